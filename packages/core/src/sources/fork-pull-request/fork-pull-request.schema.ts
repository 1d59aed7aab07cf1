import { z } from "zod";
import { commitShaSchema } from "../../projects/project/project.schema.ts";

export const decisionSchema = z.object({
  /** Of the pull request. */
  number: z.coerce.number().int().positive(),
  /** The commit that was reviewed: a newer one needs a decision of its own. */
  commitSha: commitShaSchema,
  decision: z.enum(["approve", "decline"]),
});
export type DecisionInput = z.input<typeof decisionSchema> &
  ({ readonly orgSlug: string; readonly projectName: string } | { readonly projectId: string });
