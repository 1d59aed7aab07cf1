import type { Database, Transaction } from "@towpath/db";
import { organization, type project, repository } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { cloneUrl } from "../repository/internal.ts";
import { gitHubCheckSchema, headsOf, problemShown, problemView } from "./following.ts";
import { statusHosts } from "./git-source.schema.ts";
import type { GitSourceRow, UrlSourceRow } from "./git-source.store.ts";
import { sourceOf } from "./source.ts";

type ProjectRow = typeof project.$inferSelect;

/** What lists and headings show of a project's source. `name` of a URL: its path, without `.git`. */
export const sourceSummarySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("github"), fullName: z.string() }),
  z.object({
    kind: z.literal("git"),
    url: z.string(),
    host: z.string(),
    name: z.string(),
    previews: z.boolean(),
    checkedAt: z.iso.datetime().nullable(),
    problem: problemShown,
    credentialEndsSoon: z.boolean(),
  }),
  /** Of this instance. `url`: to clone it. */
  z.object({
    kind: z.literal("repository"),
    name: z.string(),
    url: z.string(),
    previews: z.boolean(),
    problem: problemShown,
  }),
  z.object({ kind: z.literal("package"), name: z.string() }),
]);
export type SourceSummary = z.infer<typeof sourceSummarySchema>;

/** Branches of a source: the one that goes live as its owner named it, the one that goes live now, all as last seen, sorted. */
const branchesShown = {
  branch: z.string().nullable().describe("the branch that goes live; null: the repository's own default branch"),
  defaultBranch: z.string(),
  branches: z.array(z.string()).readonly(),
};

const gitHubSourceSchema = z.object({
  kind: z.literal("github"),
  fullName: z.string(),
  ...branchesShown,
  branches: branchesShown.branches.describe("as last seen; none before the repository was first asked"),
  private: z.boolean(),
  ...gitHubCheckSchema.shape,
});
export type GitHubSourceView = z.infer<typeof gitHubSourceSchema>;

/** What is shown of any Git repository whose branches are followed. */
const followedShown = {
  ...branchesShown,
  previews: z.boolean().describe("whether pushes to other branches get previews"),
  problem: problemShown,
};
type FollowedView = Pick<GitSourceView, keyof typeof followedShown>;

/** A repository of this instance (SRC-3). */
export const repositorySourceSchema = z.object({
  kind: z.literal("repository"),
  name: z.string(),
  url: z.string().describe("to clone it and push to it, with an API key as the password"),
  ...followedShown,
  /** When commits last came; null: never. */
  pushedAt: z.iso.datetime().nullable(),
  head: z.string().nullable().describe("commit of the branch that goes live, as last seen"),
});
export type RepositorySourceView = z.infer<typeof repositorySourceSchema>;

export const gitSourceSchema = z.object({
  kind: z.literal("git"),
  url: z.string(),
  host: z.string(),
  name: z.string(),
  ...followedShown,
  /** When the repository was last asked, and is asked next. */
  checkedAt: z.iso.datetime().nullable(),
  nextCheckAt: z.iso.datetime(),
  /** Null: the repository is public. */
  credential: z
    .object({
      kind: z.enum(["token", "deployKey"]),
      /** Of a deploy key: the line to add at the host. */
      publicKey: z.string().nullable(),
      /** Of a token, if its owner has entered it. */
      expiresAt: z.iso.datetime().nullable(),
      /** It ends within a week, or has ended. */
      endsSoon: z.boolean(),
    })
    .nullable(),
  webhook: z.object({
    /** Path at the dashboard's origin. */
    path: z.string(),
    url: z.string(),
    hasSecret: z.boolean(),
    /** When one last came with a right signature; null: never. */
    receivedAt: z.iso.datetime().nullable(),
  }),
  /** `postedAt`: when one was last taken. `problem`: why the newest was refused. */
  status: z
    .object({ kind: z.enum(statusHosts), postedAt: z.iso.datetime().nullable(), problem: z.string().nullable() })
    .nullable()
    .describe("where states of builds are posted"),
});
export type GitSourceView = z.infer<typeof gitSourceSchema>;

/** A Git repository whose branches are followed. */
export type FollowedSourceView = GitSourceView | RepositorySourceView;

/** A project's source as its settings show it. Values of credentials never come back. */
export const sourceViewSchema = z.discriminatedUnion("kind", [
  gitHubSourceSchema,
  z.object({ kind: z.literal("package"), name: z.string(), follows: z.boolean() }),
  gitSourceSchema,
  repositorySourceSchema,
]);
export type SourceView = z.infer<typeof sourceViewSchema>;

/** `https://example.com/owner/repository.git` → `owner/repository` */
export function nameOfUrl(url: string): string {
  const parts = new URL(url).pathname.split("/").filter((part) => part !== "");
  return parts.join("/").replace(/\.git$/, "");
}

export const hostOfUrl = (url: string): string => new URL(url).host;

const warnBeforeMs = 7 * 86_400_000;

const endsSoon = (row: Pick<GitSourceRow, "credentialExpiresAt">, now: Date): boolean =>
  row.credentialExpiresAt !== null && row.credentialExpiresAt.getTime() - now.getTime() <= warnBeforeMs;

const webhookPath = (projectId: string): string => `/api/sources/${projectId}/webhook`;

/** What summaries need of a row, and the name of its repository of this instance. */
export type GitSummaryColumns = Pick<
  GitSourceRow,
  "url" | "previews" | "checkedAt" | "problem" | "credentialExpiresAt"
> & { readonly repositoryName: string | null };

/** `git`: its row, for a project with a Git URL or a repository of this instance. */
export function sourceSummary(
  ctx: Context,
  row: ProjectRow,
  { git, orgSlug }: { readonly git: GitSummaryColumns | null; readonly orgSlug: string },
): SourceSummary | null {
  const source = sourceOf(row);
  if (source?.kind === "github") return { kind: "github", fullName: source.fullName };
  if (source?.kind === "package") return { kind: "package", name: source.name };
  if (source === null || git === null) return null;
  const { url, previews } = git;
  const problem = problemView(git);
  if (url === null) {
    const name = git.repositoryName ?? "";
    return { kind: "repository", name, url: cloneUrl(ctx, { orgSlug, name }), previews, problem };
  }
  return {
    kind: "git",
    url,
    host: hostOfUrl(url),
    name: nameOfUrl(url),
    previews,
    problem,
    checkedAt: git.checkedAt?.toISOString() ?? null,
    credentialEndsSoon: endsSoon(git, ctx.clock.now()),
  };
}

function statusView({ statusKind, statusAt, statusProblem: problem }: GitSourceRow): GitSourceView["status"] {
  const kind = statusHosts.find((each) => each === statusKind);
  return kind === undefined ? null : { kind, postedAt: statusAt?.toISOString() ?? null, problem };
}

const followedView = (of: ProjectRow, row: GitSourceRow): FollowedView => ({
  branch: row.branch,
  defaultBranch: of.defaultBranch,
  branches: [...(headsOf(row)?.keys() ?? [])].toSorted(),
  previews: row.previews,
  problem: problemView(row),
});

/** A stored source, wherever its repository is. */
export async function followedSourceView(
  db: Database | Transaction,
  ctx: Context,
  of: ProjectRow,
  row: GitSourceRow,
): Promise<FollowedSourceView> {
  if (row.url !== null) return gitSourceView(ctx, of, { ...row, url: row.url });
  const [found] = await db
    .select({ name: repository.name, pushedAt: repository.pushedAt, orgSlug: organization.slug })
    .from(repository)
    .innerJoin(organization, eq(organization.id, repository.organizationId))
    .where(eq(repository.id, row.repositoryId ?? of.id));
  if (!found) throw new TowpathError("internal", "The server's repository could not be found.");
  const { name, pushedAt } = found;
  return {
    kind: "repository",
    name,
    url: cloneUrl(ctx, found),
    ...followedView(of, row),
    pushedAt: pushedAt?.toISOString() ?? null,
    head: headsOf(row)?.get(of.defaultBranch) ?? null,
  };
}

export function gitSourceView(ctx: Context, of: ProjectRow, row: UrlSourceRow): GitSourceView {
  const path = webhookPath(of.id);
  return {
    kind: "git",
    url: row.url,
    host: hostOfUrl(row.url),
    name: nameOfUrl(row.url),
    ...followedView(of, row),
    checkedAt: row.checkedAt?.toISOString() ?? null,
    nextCheckAt: row.nextCheckAt.toISOString(),
    credential:
      row.credentialKind === null
        ? null
        : {
            kind: row.credentialKind === "token" ? "token" : "deployKey",
            publicKey: row.deployKeyPublic,
            expiresAt: row.credentialExpiresAt?.toISOString() ?? null,
            endsSoon: endsSoon(row, ctx.clock.now()),
          },
    webhook: {
      path,
      url: `${ctx.dashboardUrl}${path}`,
      hasSecret: row.webhookSecretCiphertext !== null,
      receivedAt: row.webhookAt?.toISOString() ?? null,
    },
    status: statusView(row),
  };
}
