import { project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { addressOf } from "../../ports/index.ts";
import { gitHubHeads } from "../github-check/internal.ts";
import { requireUsableInstallation } from "../installation/internal.ts";
import { hintBranch } from "../webhook/internal.ts";
import { sourceView } from "./get-source.ts";
import type { updateSourceSchema } from "./git-source.schema.ts";
import type { SourceView } from "./git-source.view.ts";
import { noSuchBranch, refused } from "./read-refs.ts";
import { type Source, sourceOf } from "./source.ts";

type ProjectRow = typeof project.$inferSelect;
type GitHubSource = Extract<Source, { kind: "github" }>;
type Changes = z.output<typeof updateSourceSchema>;
type Update = { readonly project: ProjectRow; readonly source: GitHubSource; readonly changes: Changes };

/** @throws TowpathError `invalid_input` by field for settings that a repository of GitHub doesn't have */
export function requireGitHubSettings({ credential, previews, status }: Partial<Changes>): void {
  if (credential)
    throw refused("credential", "A repository of GitHub is read through its account, without a credential.");
  if (previews === false) throw refused("previews", "Branches of a GitHub repository always get previews.");
  if (status) throw refused("status", "The GitHub App posts the states of builds, without a token.");
}

/**
 * Has another branch go live, which its job finds in the repository, as when the repository's default branch changes; null:
 * that one is followed again.
 */
export async function updateGitHubSource(
  ctx: Context<"repositories">,
  { project: of, source, changes }: Update,
): Promise<SourceView> {
  requireGitHubSettings(changes);
  const { branch } = changes;
  if (branch === undefined) return sourceView(ctx, of);
  if (branch !== null) await requireBranch(ctx, of, source, branch);
  const after = await ctx.db.transaction(async (tx) => {
    const [locked] = await tx.select().from(project).where(eq(project.id, of.id)).for("no key update");
    if (!locked) throw notFound("server");
    const now = sourceOf(locked);
    if (now?.kind !== "github" || now.repositoryId !== source.repositoryId) {
      throw new TowpathError(
        "conflict",
        "Somebody else changed the server's source just now. Look at it, then try again.",
      );
    }
    const [row = locked] = await tx
      .update(project)
      .set({ githubBranch: branch, updatedAt: ctx.clock.now() })
      .where(eq(project.id, of.id))
      .returning();
    // The job of what is live now finds which one the repository's own is.
    const hinted = branch ?? locked.defaultBranch;
    await hintBranch(tx, ctx, { project: row, branch: hinted, mayBeNew: true });
    await audit(tx, ctx, {
      organizationId: of.organizationId,
      projectId: of.id,
      action: "source.update",
      subject: of.name,
      detail: { branch },
    });
    return row;
  });
  return sourceView(ctx, after);
}

async function requireBranch(
  ctx: Context<"repositories">,
  { id, organizationId }: ProjectRow,
  { installationId, fullName, repositoryId }: GitHubSource,
  branch: string,
): Promise<void> {
  if (installationId === null) {
    throw new TowpathError("conflict", "No connected GitHub account has this repository. Connect its account again.");
  }
  await requireUsableInstallation(ctx.db, organizationId, installationId);
  const host = ctx.repositories;
  const address = addressOf(installationId, fullName);
  if ((await host.open({ ...address, repositoryId }).refs(branch)).branches.has(branch)) return;
  throw refused("branch", noSuchBranch(branch, await gitHubHeads(ctx.db, { projectId: id, repositoryId })));
}
