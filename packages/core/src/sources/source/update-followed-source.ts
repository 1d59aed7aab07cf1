import type { Transaction } from "@towpath/db";
import { branch, gitSource, project } from "@towpath/db/schema";
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import type { Context, GitServices } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { hintBranch } from "../webhook/internal.ts";
import type { updateSourceSchema } from "./git-source.schema.ts";
import {
  type GitSourceRow,
  type GivenCredential,
  givenCredential,
  requireGitSource,
  sealedCredential,
} from "./git-source.store.ts";
import { type FollowedSourceView, followedSourceView } from "./git-source.view.ts";
import { openGitSource } from "./open-source.ts";
import { chooseBranch, refusedAt } from "./read-refs.ts";
import { sealedStatus } from "./status-hook.ts";

type Changes = z.output<typeof updateSourceSchema>;

/** Of a Git URL or a repository of this instance: see `updateSource`. */
export async function updateFollowedSource(
  ctx: Context<GitServices>,
  organizationId: string,
  of: typeof project.$inferSelect,
  changes: Changes,
): Promise<FollowedSourceView> {
  const before = await requireGitSource(ctx.db, of.id);
  const given = givenCredential(ctx, organizationId, changes.credential);
  await tryChanges(ctx, organizationId, before, { changes, given });
  return ctx.db.transaction(async (tx) => {
    const [locked] = await tx.select().from(project).where(eq(project.id, of.id)).for("no key update");
    if (!locked) throw notFound("server");
    const row = await store(tx, ctx, { organizationId, before, changes, given });
    if (before.previews && changes.previews === false) await hintPreviews(tx, ctx, locked);
    await ctx.queue.enqueue("source.check", { projectId: of.id }, { key: of.id, transaction: tx });
    await audit(tx, ctx, {
      organizationId,
      projectId: of.id,
      action: "source.update",
      subject: of.name,
      detail: {
        ...(changes.branch !== undefined && { branch: changes.branch }),
        ...(changes.previews !== undefined && { previews: changes.previews }),
        ...(changes.credential !== undefined && { credential: given?.credential.kind ?? null }),
        ...(changes.status !== undefined && { status: changes.status?.kind ?? null }),
      },
    });
    return followedSourceView(tx, ctx, locked, row);
  });
}

type Change = { readonly changes: Changes; readonly given: GivenCredential | null };

/** A credential can be removed from a private repository: somebody else may have got hold of it. */
async function tryChanges(
  ctx: Context<GitServices>,
  organizationId: string,
  before: GitSourceRow,
  { changes, given }: Change,
) {
  const namesBranch = changes.branch !== undefined && changes.branch !== null;
  const { url } = before;
  if (url === null && given !== null) {
    throw new TowpathError("conflict", "A repository of this instance needs no credential.");
  }
  if (url === null && changes.status) {
    const message =
      "A repository of this instance has no host that takes states of builds. They are on the server's page.";
    throw new TowpathError("conflict", message);
  }
  if (given === null && !namesBranch) return;
  const reader =
    url === null || changes.credential === undefined
      ? await openGitSource(ctx, organizationId, before, "source")
      : ctx.gitRemotes.open({ url, credential: given?.credential ?? null });
  // The URL isn't among what changes: what was given for it can't be used.
  const refs = await refusedAt(given === null ? "branch" : "credential", () => reader.refs());
  if (namesBranch) chooseBranch(refs, { branch: changes.branch, urlField: "branch" });
}

async function store(
  tx: Transaction,
  ctx: Context<"secrets">,
  {
    organizationId,
    before,
    changes,
    given,
  }: Change & { readonly organizationId: string; readonly before: GitSourceRow },
): Promise<GitSourceRow> {
  const { projectId, url } = before;
  const now = ctx.clock.now();
  const sealing = { organizationId, projectId, url: url ?? "", version: before.credentialVersion + 1 };
  const [row] = await tx
    .update(gitSource)
    .set({
      ...(changes.branch !== undefined && { branch: changes.branch }),
      ...(changes.previews !== undefined && { previews: changes.previews }),
      ...(changes.credential !== undefined && (await sealedCredential(tx, ctx, sealing, given))),
      ...(changes.status !== undefined &&
        (await sealedStatus(tx, ctx, { organizationId, projectId, url: url ?? "" }, changes.status))),
      nextCheckAt: now,
      changedAt: now,
      updatedAt: now,
    })
    // A credential is for the URL that it was given for.
    .where(and(eq(gitSource.projectId, projectId), sql`${gitSource.url} IS NOT DISTINCT FROM ${url}`))
    .returning();
  if (!row) throw notFound("Git source");
  return row;
}

/** Their jobs find that previews are off, and end them. */
async function hintPreviews(tx: Transaction, ctx: Context, of: typeof project.$inferSelect): Promise<void> {
  const rows = await tx
    .select({ name: branch.name })
    .from(branch)
    .where(and(eq(branch.projectId, of.id), eq(branch.isDefault, false), isNull(branch.endedAt)))
    .orderBy(asc(branch.id));
  for (const { name } of rows) await hintBranch(tx, ctx, { project: of, branch: name, mayBeNew: false });
}
