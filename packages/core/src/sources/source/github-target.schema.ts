import { z } from "zod";
import { deployProjectSchema } from "../../projects/project/project.schema.ts";
import { repositoryNameSchema } from "../repository/repository-name.schema.ts";

/** GitHub's rule for names of repositories. */
export const gitHubNameSchema = z
  .string({ error: "Name the repository on GitHub" })
  .trim()
  .min(1, { error: "Name the repository on GitHub", abort: true })
  .max(100, { error: "A repository's name has 100 characters or less", abort: true })
  .regex(/^[A-Za-z0-9._-]+$/, {
    error: "A repository's name on GitHub contains only letters, numbers, dots, hyphens and underscores",
    abort: true,
  })
  .refine((name) => !/^\.{1,2}$|\.(?:git|wiki)$/i.test(name), { error: "GitHub keeps this name for itself" });

/** Where a repository of this instance is to continue. */
export const continueOnGitHubSchema = z.object({
  /** Of this instance. */
  repository: repositoryNameSchema,
  installationId: deployProjectSchema.shape.installationId,
  /** Of the new repository; default: the same name. */
  gitHubName: gitHubNameSchema.optional(),
  private: z.boolean().default(true),
});
export type ContinueOnGitHubInput = z.input<typeof continueOnGitHubSchema>;
