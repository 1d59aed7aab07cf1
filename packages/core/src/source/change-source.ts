import type { Transaction } from "@towpath/db";
import { branch, gitSource, project, repository } from "@towpath/db/schema";
import { asc, eq } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../authorize/index.ts";
import { ensureBranch } from "../branch/index.ts";
import { type BuildView, enqueueBuild, findBuildView, insertBuild } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { requireStorageForBuilds } from "../host-storage/index.ts";
import { parseInput } from "../input/index.ts";
import { type GitHeads, requireInstanceRepositories } from "../ports/index.ts";
import type { Commit } from "../project/project.schema.ts";
import { keepRepository, requireRepository } from "../repository/internal.ts";
import { endBranch, followDefaultBranch } from "../webhook/internal.ts";
import { changeSourceSchema } from "./git-source.schema.ts";
import {
  findGitSource,
  type GivenCredential,
  givenCredential,
  sealedCredential,
  storedHeads,
} from "./git-source.store.ts";
import { type FollowedSourceView, followedSourceView } from "./git-source.view.ts";
import { readerOf } from "./open-source.ts";
import { firstCheckAt } from "./pauses.ts";
import { chooseBranch, movedUrl, readRefs, refused, refusedAt } from "./read-refs.ts";
import { noOtherSource, sourceOf } from "./source.ts";

type ChangeSourceInput = z.input<typeof changeSourceSchema>;
type ProjectRow = typeof project.$inferSelect;

/**
 * Has a server built from a Git URL, or a repository of this instance, instead of what it was built from (SRC-1). Name, address, variables, logs and
 * deployments stay, and what is live stays live until the first build from there replaces it. Previews of the earlier
 * source end.
 *
 * @throws TowpathError `conflict` for a project that isn't built here; `invalid_input` by field as `deployGitUrl` and
 * `deployRepository`
 */
export async function changeSource(call: {
  ctx: Context;
  input: ProjectScope & ChangeSourceInput;
}): Promise<{ readonly source: FollowedSourceView; readonly build: BuildView }> {
  const { ctx } = call;
  const { project: of, organization } = await authorizeProject(ctx, "project.update", call.input);
  const input = parseInput(changeSourceSchema, call.input);
  if (sourceOf(of) === null) {
    throw new TowpathError("conflict", "Only a server that Towpath builds has a source. This one runs elsewhere.");
  }
  await requireStorageForBuilds(ctx);
  const next = await readNext(ctx, organization.id, input);
  const { buildId, ...after } = await ctx.db.transaction((tx) => move(tx, ctx, of.id, next));
  const source = await followedSourceView(ctx.db, ctx, after.project, after.row);
  return { source, build: await findBuildView(ctx, buildId) };
}

type NextSource = {
  readonly place: { readonly url: string } | { readonly repositoryId: string };
  /** For the audit log. */
  readonly to: string;
  /** The branch, if the owner named one. */
  readonly named: string | null;
  readonly branch: string;
  readonly previews: boolean;
  readonly given: GivenCredential | null;
  readonly heads: GitHeads;
  readonly commit: Commit;
};

async function readNext(
  ctx: Context,
  organizationId: string,
  { gitUrl, repository, credential, previews, branch }: z.output<typeof changeSourceSchema>,
): Promise<NextSource> {
  const named = branch ?? null;
  if (repository !== undefined) {
    if (gitUrl !== undefined || credential) {
      throw refused("repository", "A repository of this instance has no Git URL and needs no credential.");
    }
    const { id } = await refusedAt("repository", () => requireRepository(ctx.db, organizationId, repository));
    const reader = requireInstanceRepositories(ctx).open(id);
    const heads = await reader.refs();
    const at = chooseBranch(heads, { branch, urlField: "repository" });
    const commit = await reader.commit(at);
    return {
      ...{ place: { repositoryId: id }, to: repository, named, branch: at.branch, previews: previews ?? true },
      ...{ given: null, heads, commit },
    };
  }
  if (gitUrl === undefined) throw refused("gitUrl", "Name a Git URL, or a repository of this instance.");
  const given = givenCredential(ctx, organizationId, credential);
  const asked = { url: gitUrl, credential: given?.credential ?? null };
  const heads = await readRefs(ctx, asked, "gitUrl");
  const at = chooseBranch(heads, { branch, urlField: "gitUrl" });
  const url = movedUrl(asked, heads.url);
  const commit = await refusedAt("gitUrl", () => readerOf(ctx, { ...asked, url }).commit(at));
  return {
    ...{ place: { url }, to: url, named, branch: at.branch, previews: previews ?? false },
    ...{ given, heads, commit },
  };
}

async function move(tx: Transaction, ctx: Context, projectId: string, next: NextSource) {
  // Lock order everywhere: project first, then branches by id.
  const [before] = await tx.select().from(project).where(eq(project.id, projectId)).for("no key update");
  if (!before) throw notFound("project");
  const branches = await tx
    .select()
    .from(branch)
    .where(eq(branch.projectId, projectId))
    .orderBy(asc(branch.id))
    .for("no key update");
  const from = await describeSource(tx, before);
  const row = await store(tx, ctx, before, next);
  const [moved] = await tx
    .update(project)
    .set({ ...noOtherSource, updatedAt: ctx.clock.now() })
    .where(eq(project.id, projectId))
    .returning();
  if (!moved) throw notFound("project");
  const target = { projectId, name: next.branch, isDefault: next.branch === before.defaultBranch };
  const production = await ensureBranch(tx, ctx, target);
  if (!production.isDefault) await followDefaultBranch(tx, ctx, { project: moved, branch: production });
  for (const { id, name } of branches) {
    if (id !== production.id) await endBranch(tx, ctx, { project: moved, branchName: name, reason: "source changed" });
  }
  const now = { ...moved, defaultBranch: next.branch };
  const { id: buildId } = await insertBuild(tx, ctx, {
    ...{ project: now, branchId: production.id },
    ...{ commit: next.commit, trigger: "import" },
  });
  await enqueueBuild(tx, ctx, buildId);
  await audit(tx, ctx, {
    organizationId: before.organizationId,
    projectId,
    action: "source.change",
    subject: before.name,
    detail: {
      ...{ from, to: next.to, branch: next.branch, commit: next.commit.sha },
      credential: next.given?.credential.kind ?? null,
    },
  });
  return { project: now, row, buildId };
}

/** For the audit log. */
async function describeSource(tx: Transaction, row: ProjectRow): Promise<string> {
  const source = sourceOf(row);
  if (source?.kind === "github") return source.fullName;
  if (source?.kind === "package") return source.name;
  const git = await findGitSource(tx, row.id);
  if (git?.repositoryId === null || git === null) return git?.url ?? "";
  const [own] = await tx.select({ name: repository.name }).from(repository).where(eq(repository.id, git.repositoryId));
  return own?.name ?? "";
}

async function store(tx: Transaction, ctx: Context, of: ProjectRow, next: NextSource) {
  const { id: projectId, organizationId } = of;
  const before = await findGitSource(tx, projectId);
  const version = (before?.credentialVersion ?? 0) + 1;
  const now = ctx.clock.now();
  const { place } = next;
  if ("repositoryId" in place) await keepRepository(tx, organizationId, place.repositoryId);
  const url = "url" in place ? place.url : null;
  const values = {
    ...{ url: null, repositoryId: null, ...place },
    ...{ branch: next.named, previews: next.previews },
    ...(await sealedCredential(tx, ctx, { organizationId, projectId, url: url ?? "", version }, next.given)),
    // The webhook was the other repository's.
    ...{ webhookSecretCiphertext: null, webhookAt: null },
    heads: storedHeads(next.heads.branches, next.branch),
    ...{ checkedAt: now, nextCheckAt: firstCheckAt(now), changedAt: now, problem: null, updatedAt: now },
  };
  const [row] = await tx
    .insert(gitSource)
    .values({ ...values, projectId, createdAt: now })
    .onConflictDoUpdate({ target: gitSource.projectId, set: values })
    .returning();
  if (!row) throw notFound("project");
  return row;
}
