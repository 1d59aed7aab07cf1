import { z } from "zod";

/** Last part of a repository's URL: safe in paths, URLs and shells, and no name that Git keeps for itself. */
export const repositoryNameSchema = z
  .string({ error: "Name the repository" })
  .trim()
  .min(1, { error: "Name the repository", abort: true })
  .max(100, { error: "A repository's name has 100 characters or less", abort: true })
  .regex(/^[a-z0-9][a-z0-9._-]*$/, {
    error:
      "A repository's name starts with a lowercase letter or number and contains only lowercase letters, numbers, dots, hyphens and underscores",
    abort: true,
  })
  .refine((name) => !/\.(?:git|lock)$|\.$|\.\./.test(name), {
    error: "A repository's name can't end in .git, .lock or a dot, or have two dots in a row",
  });
