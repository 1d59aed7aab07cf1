import { getRelease } from "@towpath/core/operations/release";
import { z } from "zod";
import { named } from "~/http/rest/answer-names.ts";
import { type Operation, operation, organizationSlug } from "~/http/rest/operation.server.ts";

const instance = named(
  "Instance",
  z.object({
    version: z.string(),
    commit: z.string().nullable().describe("null: it runs from sources without Git"),
    schema: z.string().nullable().describe("the newest migration of the database that this release knows"),
  }),
);

/** The instance over REST. */
export const instanceOperation: Operation = operation("GET /instance", "readInstance", "organization.read", {
  summary: "which release the instance runs: version, commit and schema",
  answer: instance,
  handle: async ({ ctx }) => getRelease({ ctx, input: { orgSlug: await organizationSlug(ctx, null) } }),
});
