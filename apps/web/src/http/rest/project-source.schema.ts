import { z } from "zod";
import { named, names, time } from "./answer-names.ts";

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
      url: z.string().nullable(),
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
      url: z.string().nullable(),
      hasSecret: z.boolean(),
      receivedAt: time.nullable(),
    }),
  }),
);

/** `RepositorySourceView` of core. */
const repositorySource = named(
  "RepositorySource",
  z.object({
    kind: z.literal("repository"),
    name: z.string(),
    url: z.string().nullable().describe("to clone it and push to it, with an API key as the password"),
    branch: z.string().nullable().describe("the branch that goes live; null: the repository's own default branch"),
    defaultBranch: z.string(),
    branches: names,
    previews: z.boolean().describe("whether pushes to other branches get previews"),
    problem,
    pushedAt: time.nullable(),
    head: z.string().nullable().describe("commit of the branch that goes live, as last seen"),
  }),
);

/** `FollowedSourceView` of core. */
export const followedSource = named("FollowedSource", z.discriminatedUnion("kind", [gitSource, repositorySource]));

/** `SourceView` of core. */
export const sourceDetail = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("github"), fullName: z.string(), defaultBranch: z.string(), private: z.boolean() }),
  z.object({ kind: z.literal("package"), name: z.string(), follows: z.boolean() }),
  gitSource,
  repositorySource,
]);

/** `RepositoryView` of core. */
export const repository = named(
  "Repository",
  z.object({
    id: z.uuid(),
    name: z.string(),
    url: z.string().nullable().describe("to clone it and push to it, with an API key as the password"),
    defaultBranch: z.string(),
    madeBy: z.enum(["push", "deploy", "upload", "forge"]).describe("who put code there first"),
    createdBy: z.object({ id: z.uuid(), name: z.string() }).nullable(),
    createdAt: time,
    pushedAt: time.nullable(),
    servers: z.array(z.object({ id: z.uuid(), name: z.string() })),
  }),
);

export const archiveCommit = z.object({
  commit: z.object({ sha: z.string(), message: z.string().nullable(), author: z.string().nullable() }),
  branch: z.string(),
  changed: z.boolean().describe("false: the branch had the same files, and `commit` is its head"),
});
