import type { Transaction } from "@towpath/db";
import { branch, project } from "@towpath/db/schema";
import { and, asc, eq, isNull, or } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import type { TargetRepository } from "../../ports/index.ts";
import { hintBranch } from "../webhook/internal.ts";
import { builtFromNow, continueBuilds } from "./built-from.ts";
import { findGitSource } from "./git-source.store.ts";
import { describeSource, setSource } from "./set-source.ts";
import { noOtherSource } from "./source.ts";

/** `namesBranch`: GitHub has another default branch, so that the one that goes live has to be named. */
type Continuation = {
  readonly installationId: number;
  readonly repository: TargetRepository;
  readonly namesBranch: boolean;
};

/**
 * Has a server built from GitHub, where its repository of this instance continues (SRC-3): like `changeSource`, but for the
 * same history. So previews and builds stay too, and nothing is built that was built. The project is locked.
 */
export async function continueSource(
  tx: Transaction,
  ctx: Context<"secrets">,
  projectId: string,
  { installationId, repository, namesBranch }: Continuation,
): Promise<void> {
  const [before] = await tx.select().from(project).where(eq(project.id, projectId));
  const git = await findGitSource(tx, projectId);
  if (!before || git === null) throw notFound("server");
  const from = await describeSource(tx, before);
  const githubBranch = git.branch ?? (namesBranch ? before.defaultBranch : null);
  const columns = {
    ...noOtherSource,
    installationId,
    repositoryId: repository.id,
    repositoryFullName: repository.fullName,
    repositoryPrivate: repository.private,
    githubBranch,
  };
  const after = await setSource(tx, ctx, before, { branch: before.defaultBranch, columns, git: null });
  const to = await builtFromNow(tx, after);
  if (to !== null && git.repositoryId !== null) {
    await continueBuilds(tx, projectId, { repositoryId: git.repositoryId, to });
  }
  const followed = await tx
    .select({ name: branch.name })
    .from(branch)
    .where(and(eq(branch.projectId, projectId), or(isNull(branch.endedAt), eq(branch.isDefault, true))))
    .orderBy(asc(branch.id));
  // A push from a moment ago may not have become a build yet.
  for (const { name } of followed) await hintBranch(tx, ctx, { project: after, branch: name, mayBeNew: false });
  await audit(tx, ctx, {
    organizationId: before.organizationId,
    projectId,
    action: "source.change",
    subject: before.name,
    detail: { from, to: repository.fullName, branch: before.defaultBranch, credential: null },
  });
}
