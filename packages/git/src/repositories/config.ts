import { z } from "zod";

/** Where repositories of this instance are stored; all of its processes must have the same. */
export const repositorySettings = {
  TOWPATH_REPOSITORIES: z
    .enum(["directory", "bundles"], { error: "must be directory or bundles" })
    .default("directory"),
} as const;

export type RepositoriesKind = z.infer<(typeof repositorySettings)["TOWPATH_REPOSITORIES"]>;
