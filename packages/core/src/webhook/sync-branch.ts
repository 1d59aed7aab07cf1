import type { Database } from "@towpath/db";
import { branch, githubInstallation, project } from "@towpath/db/schema";
import { and, asc, eq, isNull } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { isId } from "../input/index.ts";
import type { AskGitHub, BranchAtGitHub, SyncTarget } from "./branch-at-github.ts";
import { type BranchSettled, settleBranch } from "./settle-branch.ts";

export type SyncBranchInput = { readonly projectId: string; readonly branch: string; readonly ask: AskGitHub };

const maxQuestions = 5;

/**
 * Brings one branch of one project to its state at GitHub *now*: builds its head, follows a renamed repository
 * or another default branch, or ends the preview of a branch that is gone or whose pull request was closed (BLD-7).
 *
 * GitHub is asked outside any transaction. The answer is acted on under the branch's lock, and only if nobody has
 * decided anything about the branch since the question; otherwise GitHub is asked again. So each decision rests on an
 * answer newer than the decision before, and the live commit never goes back (BLD-11, decision 007). A head that has a
 * build gets no second one (BLD-12).
 */
export async function syncBranch(call: { ctx: Context; input: SyncBranchInput }): Promise<BranchSettled> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  for (let questions = 0; questions < maxQuestions; questions++) {
    const before = await readTarget(ctx.db, input);
    if (!before) return { outcome: "unknown" };
    const { repositoryId } = before.project;
    const installationIds = await usableInstallations(ctx.db, before.project);
    const seen: BranchAtGitHub =
      repositoryId === null || installationIds.length === 0
        ? { kind: "no-access" }
        : await input.ask({ installationIds, repositoryId, branch: input.branch });
    const settled = await ctx.db.transaction((tx) => settleBranch(tx, ctx, { ...before, seen }));
    if (settled) return settled;
  }
  throw new TowpathError("conflict", "The branch kept changing while GitHub was asked about it.");
}

async function readTarget(db: Database, input: SyncBranchInput): Promise<SyncTarget | undefined> {
  if (!isId(input.projectId)) return undefined;
  const [row] = await db
    .select({ project, branch })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .where(and(eq(branch.projectId, input.projectId), eq(branch.name, input.branch)));
  return row;
}

/**
 * The project's own installation first, then the organization's others: after a transfer of the repository or a
 * reinstallation of the App, another one reaches it.
 */
async function usableInstallations(db: Database, of: SyncTarget["project"]): Promise<readonly number[]> {
  const rows = await db
    .select({ id: githubInstallation.installationId })
    .from(githubInstallation)
    .where(and(eq(githubInstallation.organizationId, of.organizationId), isNull(githubInstallation.suspendedAt)))
    .orderBy(asc(githubInstallation.createdAt), asc(githubInstallation.installationId));
  const ids = rows.map((row) => row.id);
  return ids.toSorted((one, two) => Number(two === of.installationId) - Number(one === of.installationId));
}
