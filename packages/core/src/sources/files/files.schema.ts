import { z } from "zod";
import { commitShaSchema } from "../../projects/project/project.schema.ts";
import { branchNameSchema } from "../source/git-source.schema.ts";

/** A commit that somebody looks at, and the branch that had it. */
const at = { branch: branchNameSchema, sha: commitShaSchema };

/** Whether the branch is the one to show: absent means the one that goes live. */
export const listFilesSchema = z.object({ branch: branchNameSchema.optional() });

const maxPathLength = 1000;
const path = z.string().min(1).max(maxPathLength);
export const readFileSchema = z.object({ ...at, path });

export const searchFilesSchema = z.object({
  ...at,
  text: z
    .string()
    .min(2, { error: "Enter at least two characters" })
    .max(200)
    .regex(/^[^\0\r\n]*$/, { error: "Search for a part of one line" }),
});

/** Of all files of a commit together, in characters. */
const maxChange = 2_000_000;
const maxChangedFiles = 50;

export const commitChangesSchema = z.object({
  ...at,
  newBranch: branchNameSchema.nullish().describe("makes this branch instead of moving `branch`"),
  message: z
    .string()
    .trim()
    .min(1, { error: "Say what the commit changes" })
    .max(10_000)
    .regex(/^[^\0]*$/, { error: "A message is text" }),
  changes: z
    .array(z.object({ path, content: z.string().nullable().describe("the whole file; null deletes it") }))
    .min(1, { error: "Change at least one file" })
    .max(maxChangedFiles, { error: `Change at most ${maxChangedFiles} files in one commit` })
    .refine((changes) => new Set(changes.map((change) => change.path)).size === changes.length, {
      error: "Name each file once",
    })
    .refine((changes) => changes.reduce((sum, { content }) => sum + (content?.length ?? 0), 0) <= maxChange, {
      error: `A commit from here has at most ${maxChange / 1e6} MB`,
    }),
  pullRequest: z.boolean().default(false).describe("opens a pull request for `newBranch`, at GitHub only"),
});
export type CommitChangesInput = z.input<typeof commitChangesSchema>;

const commitShown = z.object({ sha: z.string(), message: z.string().nullable(), author: z.string().nullable() });

export const filesViewSchema = z.object({
  kind: z.enum(["github", "git", "repository"]).describe("of the source"),
  name: z.string().describe("of the repository, for people"),
  branch: z.string(),
  branches: z.array(z.string()).describe("by name, at most a thousand"),
  isLive: z.boolean().describe("whether commits to this branch go live"),
  commit: commitShown.describe("head of the branch, whose files these are"),
  paths: z.array(z.string()).describe("of regular files, in order"),
});
export type FilesView = z.infer<typeof filesViewSchema>;

export const fileViewSchema = z.object({
  kind: z.enum(["text", "binary", "unreadable"]).describe("`unreadable`: it is larger than 1 MB, a link, or not there"),
  text: z.string().nullable().describe("of a text in UTF-8"),
  bytes: z.number().nullable().describe("its size, where it can be read"),
});
export type FileView = z.infer<typeof fileViewSchema>;

export const foundLinesSchema = z.object({
  lines: z.array(z.object({ path: z.string(), line: z.number(), text: z.string() })),
  isComplete: z.boolean().describe("false: there are more than these"),
});
export type FoundLines = z.infer<typeof foundLinesSchema>;

export const committedSchema = z.object({
  commit: commitShown,
  branch: z.string(),
  pullRequestUrl: z.string().nullable(),
  pullRequestProblem: z.string().nullable().describe("why the commit has no pull request, if one was to be opened"),
});
export type Committed = z.infer<typeof committedSchema>;
