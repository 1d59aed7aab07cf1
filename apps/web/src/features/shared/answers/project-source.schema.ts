import { statusHosts } from "@towpath/core/sources/source/schema";
import { z } from "zod";
import { listOf, named, names, time } from "~/http/rest/answer-names.ts";

const problem = z
  .object({ code: z.string(), message: z.string(), since: time })
  .nullable()
  .describe("why the repository can't be read; what is live stays");

/** `SourceSummary` of core. */
export const projectSource = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("github"), fullName: z.string() }),
    z.object({
      kind: z.literal("git"),
      url: z.string(),
      host: z.string(),
      name: z.string(),
      previews: z.boolean(),
      checkedAt: time.nullable(),
      problem,
      credentialEndsSoon: z.boolean(),
    }),
    z.object({
      kind: z.literal("repository"),
      name: z.string(),
      url: z.string(),
      previews: z.boolean(),
      problem,
    }),
    z.object({ kind: z.literal("package"), name: z.string() }),
  ])
  .nullable()
  .describe("where its code comes from");

/** `GitSourceView` of core. */
export const gitSource = named(
  "GitSource",
  z.object({
    kind: z.literal("git"),
    url: z.string(),
    host: z.string(),
    name: z.string(),
    branch: z.string().nullable().describe("the branch that goes live; null: the repository's own default branch"),
    defaultBranch: z.string(),
    branches: names,
    previews: z.boolean().describe("whether pushes to other branches get previews"),
    checkedAt: time.nullable(),
    nextCheckAt: time,
    problem,
    credential: z
      .object({
        kind: z.enum(["token", "deployKey"]),
        publicKey: z.string().nullable(),
        expiresAt: time.nullable(),
        endsSoon: z.boolean(),
      })
      .nullable(),
    webhook: z.object({
      path: z.string(),
      url: z.string(),
      hasSecret: z.boolean(),
      receivedAt: time.nullable(),
    }),
    status: z
      .object({ kind: z.enum(statusHosts), postedAt: time.nullable(), problem: z.string().nullable() })
      .nullable()
      .describe("where states of builds are posted"),
  }),
);

/** Result of `lookIntoSource`. */
export const lookedAtSource = named(
  "LookedAtSource",
  z.object({
    url: z.string().describe("where the repository is now, to deploy as `gitUrl`"),
    host: z.string(),
    name: z.string(),
    branch: z.string().describe("the branch that would go live"),
    defaultBranch: z.string().nullable(),
    branches: names,
    directory: z.string().nullable().describe("of a link to a folder, for `rootDirectory`"),
    commit: z.object({ sha: z.string(), message: z.string().nullable(), author: z.string().nullable() }),
    entrypoints: names.describe("what may start the server, the likeliest first"),
    projects: listOf(z.object({ directory: z.string(), entrypoints: names })).describe(
      "directories with a project of their own",
    ),
    requirementFiles: names,
    variables: listOf(z.object({ name: z.string(), file: z.string() })).describe("that its files read"),
    python: z.object({ request: z.string().nullable(), from: z.string() }).nullable(),
    serverName: z.string().describe("a free name for the server"),
  }),
);

/** `RepositorySourceView` of core. */
const repositorySource = named(
  "RepositorySource",
  z.object({
    kind: z.literal("repository"),
    name: z.string(),
    url: z.string().describe("to clone it and push to it, with an API key as the password"),
    branch: z.string().nullable().describe("the branch that goes live; null: the repository's own default branch"),
    defaultBranch: z.string(),
    branches: names,
    previews: z.boolean().describe("whether pushes to other branches get previews"),
    problem,
    pushedAt: time.nullable(),
    head: z.string().nullable().describe("commit of the branch that goes live, as last seen"),
  }),
);

/** `SourceView` of core. */
export const sourceDetail = named(
  "Source",
  z.discriminatedUnion("kind", [
    z.object({
      kind: z.literal("github"),
      fullName: z.string(),
      branch: z.string().nullable().describe("the branch that goes live; null: the repository's own default branch"),
      defaultBranch: z.string(),
      branches: names.describe("as last seen; none before the repository was first asked"),
      private: z.boolean(),
      checkedAt: time.nullable().describe("when it was last asked for pushes"),
      webhookAt: time.nullable().describe("when a webhook last came"),
      withoutWebhooks: z.enum(["unreachable", "missed"]).nullable().describe("why webhooks don't report pushes"),
      problem,
    }),
    z.object({ kind: z.literal("package"), name: z.string(), follows: z.boolean() }),
    gitSource,
    repositorySource,
  ]),
);

/** `RepositoryView` of core. */
export const repository = named(
  "Repository",
  z.object({
    id: z.uuid(),
    name: z.string(),
    url: z.string().describe("to clone it and push to it, with an API key as the password"),
    defaultBranch: z.string(),
    madeBy: z.enum(["push", "deploy", "upload", "forge"]).describe("who put code there first"),
    createdBy: z.object({ id: z.uuid(), name: z.string() }).nullable(),
    createdAt: time,
    pushedAt: time.nullable(),
    servers: z.array(z.object({ id: z.uuid(), name: z.string() })),
    continued: z
      .object({ fullName: z.string(), url: z.string(), at: time })
      .nullable()
      .describe("where it continues on GitHub; it takes no pushes since"),
  }),
);

export const archiveCommit = z.object({
  commit: z.object({ sha: z.string(), message: z.string().nullable(), author: z.string().nullable() }),
  branch: z.string(),
  changed: z.boolean().describe("false: the branch had the same files, and `commit` is its head"),
  leftOut: z
    .array(z.string())
    .describe("what of the archive isn't in the commit: `.gitignore`, environments, caches, and files with secrets"),
});
