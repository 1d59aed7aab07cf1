import { z } from "zod";
import { branchNameSchema, deployGitUrlSchema } from "../source/git-source.schema.ts";
import { repositoryNameSchema } from "./repository-name.schema.ts";

/**
 * Who put code there first: somebody's `git push`, the terminal's `deploy`, an upload, or the local forge of an earlier
 * release. The terminal writes to what it made only.
 */
const repositoryMakers = ["push", "deploy", "upload", "forge"] as const;
export const repositoryMakerSchema = z.enum(repositoryMakers);

export const createRepositorySchema = z.object({
  name: repositoryNameSchema,
  defaultBranch: branchNameSchema.default("main"),
  madeBy: repositoryMakerSchema.default("push"),
});

/** A commit of an archive's files. */
export const uploadCommitSchema = z.object({
  name: repositoryNameSchema,
  /** Default: the repository's default branch. */
  branch: branchNameSchema.nullish(),
  message: z
    .string()
    .trim()
    .max(10_000, "The message is too long (max 10,000 characters)")
    .nullish()
    .transform((text) => (text ? text : "Upload files")),
  /** Head that the branch must have, so that nobody's commit is undone; null: the branch must not exist. */
  expectedHead: z
    .string()
    .regex(/^[0-9a-f]{40}$/, "A commit is named by its full id")
    .nullish(),
});

export const deployRepositorySchema = deployGitUrlSchema.omit({ gitUrl: true, credential: true }).extend({
  repository: repositoryNameSchema,
  /** Whether pushes to other branches get previews. */
  previews: z.boolean().default(true),
  trigger: z.enum(["import", "cli", "quickstart"]).default("import"),
});
export type DeployRepositoryInput = z.input<typeof deployRepositorySchema> & { readonly orgSlug: string };

/** A server of an archive's files; its repository is made for it. */
export const deployFilesSchema = deployRepositorySchema
  .omit({ repository: true, branch: true })
  .extend({ message: uploadCommitSchema.shape.message });
export type DeployFilesInput = z.input<typeof deployFilesSchema> & { readonly orgSlug: string };
