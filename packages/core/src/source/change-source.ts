import type { Transaction } from "@towpath/db";
import { branch, gitSource, project } from "@towpath/db/schema";
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
import { type GitRefs, requireGitRemotes } from "../ports/index.ts";
import type { Commit } from "../project/project.schema.ts";
import { endBranch, followDefaultBranch } from "../webhook/internal.ts";
import { changeSourceSchema } from "./git-source.schema.ts";
import {
  findGitSource,
  type GivenCredential,
  givenCredential,
  sealedCredential,
  storedHeads,
} from "./git-source.store.ts";
import { type GitSourceView, gitSourceView } from "./git-source.view.ts";
import { firstCheckAt } from "./pauses.ts";
import { chooseBranch, movedUrl, readRefs, refusedAt } from "./read-refs.ts";
import { noOtherSource, sourceOf } from "./source.ts";
import { noStatus } from "./status-hook.ts";

type ChangeSourceInput = z.input<typeof changeSourceSchema>;
type ProjectRow = typeof project.$inferSelect;

/**
 * Has a server built from a Git URL instead of what it was built from (SRC-1). Name, address, variables, logs and
 * deployments stay, and what is live stays live until the first build from there replaces it. Previews of the earlier
 * source end.
 *
 * @throws TowpathError `conflict` for a project that isn't built here; `invalid_input` by field as `deployGitUrl`
 */
export async function changeSource(call: {
  ctx: Context;
  input: ProjectScope & ChangeSourceInput;
}): Promise<{ readonly source: GitSourceView; readonly build: BuildView }> {
  const { ctx } = call;
  const { project: of, organization } = await authorizeProject(ctx, "project.update", call.input);
  const input = parseInput(changeSourceSchema, call.input);
  if (sourceOf(of) === null) {
    throw new TowpathError("conflict", "Only a server that Towpath builds has a source. This one runs elsewhere.");
  }
  await requireStorageForBuilds(ctx);
  const given = givenCredential(ctx, organization.id, input.credential);
  const asked = { url: input.gitUrl, credential: given?.credential ?? null };
  const refs = await readRefs(ctx, asked, "gitUrl");
  const at = chooseBranch(refs, { branch: input.branch, urlField: "gitUrl" });
  const remote = { ...asked, url: movedUrl(asked, refs) };
  const commit = await refusedAt("gitUrl", () => requireGitRemotes(ctx).commit(remote, at));
  const next: NextSource = {
    ...{ url: remote.url, named: input.branch ?? null, previews: input.previews },
    ...{ given, refs, branch: at.branch, commit },
  };
  const { buildId, ...after } = await ctx.db.transaction((tx) => move(tx, ctx, of.id, next));
  return { source: gitSourceView(ctx, after.project, after.row), build: await findBuildView(ctx, buildId) };
}

type NextSource = {
  readonly url: string;
  /** The branch, if the owner named one. */
  readonly named: string | null;
  readonly branch: string;
  readonly previews: boolean;
  readonly given: GivenCredential | null;
  readonly refs: GitRefs;
  readonly commit: Commit;
};

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
  const from = describeSource(before, (await findGitSource(tx, projectId))?.url ?? null);
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
      ...{ from, to: next.url, branch: next.branch, commit: next.commit.sha },
      credential: next.given?.credential.kind ?? null,
    },
  });
  return { project: now, row, buildId };
}

function describeSource(row: ProjectRow, url: string | null): string {
  const source = sourceOf(row);
  if (source?.kind === "github") return source.fullName;
  return source?.kind === "package" ? source.name : (url ?? "");
}

async function store(tx: Transaction, ctx: Context, of: ProjectRow, next: NextSource) {
  const { id: projectId, organizationId } = of;
  const before = await findGitSource(tx, projectId);
  const version = (before?.credentialVersion ?? 0) + 1;
  const now = ctx.clock.now();
  const values = {
    ...{ url: next.url, branch: next.named, previews: next.previews },
    ...(await sealedCredential(tx, ctx, { organizationId, projectId, url: next.url, version }, next.given)),
    // The webhook and the token for states were the other repository's.
    ...{ webhookSecretCiphertext: null, webhookAt: null, ...noStatus },
    heads: storedHeads(next.refs.branches, next.branch),
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
