import type { Database, Transaction } from "@towpath/db";
import { organization, type project, repository } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { cloneUrl } from "../repository/internal.ts";
import { type GitHubCheckView, headsOf, problemView, type SourceProblemView } from "./following.ts";
import { type StatusHost, statusHosts } from "./git-source.schema.ts";
import type { GitSourceRow, UrlSourceRow } from "./git-source.store.ts";
import { sourceOf } from "./source.ts";

type ProjectRow = typeof project.$inferSelect;

/** What lists and headings show of a project's source. */
export type SourceSummary =
  /** `fullName`: owner/name */
  | { readonly kind: "github"; readonly fullName: string }
  /** `name`: the path of the URL, without `.git`. `problem`: why the last check failed; what is live stays. */
  | {
      readonly kind: "git";
      readonly url: string;
      readonly host: string;
      readonly name: string;
      readonly previews: boolean;
      readonly checkedAt: string | null;
      readonly problem: SourceProblemView | null;
      readonly credentialEndsSoon: boolean;
    }
  /** Of this instance. `url`: to clone it. */
  | {
      readonly kind: "repository";
      readonly name: string;
      readonly url: string;
      readonly previews: boolean;
      readonly problem: SourceProblemView | null;
    }
  | { readonly kind: "package"; readonly name: string };

/** A project's source as its settings show it. Values of credentials never come back. */
export type SourceView =
  | GitHubSourceView
  | { readonly kind: "package"; readonly name: string; readonly follows: boolean }
  | FollowedSourceView;

export type GitHubSourceView = GitHubCheckView & {
  readonly kind: "github";
  readonly fullName: string;
  /** The branch that goes live, as the owner named it; null: the repository's default branch is followed. */
  readonly branch: string | null;
  /** The branch that goes live now. */
  readonly defaultBranch: string;
  /** Branches as last seen, sorted; none before the repository was first asked. */
  readonly branches: readonly string[];
  readonly private: boolean;
};

/** A Git repository whose branches are followed. */
export type FollowedSourceView = GitSourceView | RepositorySourceView;

type FollowedView = {
  /** The branch that goes live, as the owner named it; null: what the repository's HEAD names is followed. */
  readonly branch: string | null;
  /** The branch that goes live now. */
  readonly defaultBranch: string;
  /** Branches as last seen, sorted. */
  readonly branches: readonly string[];
  readonly previews: boolean;
  /** Why the last check failed; what is live stays. Null: it succeeded. */
  readonly problem: SourceProblemView | null;
};

/** A repository of this instance (SRC-3). */
export type RepositorySourceView = FollowedView & {
  readonly kind: "repository";
  readonly name: string;
  /** To clone it and push to it. */
  readonly url: string;
  /** When commits last came; null: never. */
  readonly pushedAt: string | null;
  /** Commit that the branch that goes live had when it was last seen; null: it has none. */
  readonly head: string | null;
};

export type GitSourceView = FollowedView & {
  readonly kind: "git";
  readonly url: string;
  readonly host: string;
  readonly name: string;
  /** When the repository was last asked, and is asked next. */
  readonly checkedAt: string | null;
  readonly nextCheckAt: string;
  /** Null: the repository is public. */
  readonly credential: {
    readonly kind: "token" | "deployKey";
    /** Of a deploy key: the line to add at the host. */
    readonly publicKey: string | null;
    /** Of a token, if its owner has entered it. */
    readonly expiresAt: string | null;
    /** It ends within a week, or has ended. */
    readonly endsSoon: boolean;
  } | null;
  readonly webhook: {
    /** Path at the dashboard's origin. */
    readonly path: string;
    /** The same with the origin. */
    readonly url: string;
    readonly hasSecret: boolean;
    /** When one last came with a right signature; null: never. */
    readonly receivedAt: string | null;
  };
  /** Where states of builds are posted; null: nowhere. */
  readonly status: {
    readonly kind: StatusHost;
    /** When one was last taken; null: never. */
    readonly postedAt: string | null;
    /** Why the newest was refused. */
    readonly problem: string | null;
  } | null;
};

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
