import { branch, forkPullRequest, user } from "@towpath/db/schema";
import { and, asc, eq, isNull } from "drizzle-orm";
import { authorizeProject } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { displayNameOf } from "../../tenancy/organization/index.ts";

/** An open pull request from a fork, and the state of its head (BLD-9). */
export type ForkPullRequestView = {
  readonly number: number;
  readonly url: string | null;
  readonly title: string;
  /** Login of who opened it. */
  readonly author: string;
  /** owner/name of the fork; null once it was deleted. */
  readonly repository: string | null;
  readonly headBranch: string;
  readonly commitSha: string;
  readonly commitMessage: string | null;
  readonly commitAuthor: string | null;
  readonly state: "waiting" | "approved" | "declined";
  readonly waitingSince: string;
  readonly decidedBy: string | null;
  readonly decidedAt: string | null;
};

/** The open pull requests from forks of a project's repository, the longest waiting first. */
export async function listForkPullRequests({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly projectName: string }>): Promise<readonly ForkPullRequestView[]> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const rows = await ctx.db
    .select({
      fork: forkPullRequest,
      number: branch.pullRequestNumber,
      url: branch.pullRequestUrl,
      decidedBy: { firstName: user.firstName, lastName: user.lastName, email: user.email },
    })
    .from(forkPullRequest)
    .innerJoin(branch, eq(branch.id, forkPullRequest.branchId))
    .leftJoin(user, eq(user.id, forkPullRequest.decidedByUserId))
    .where(and(eq(branch.projectId, project.id), isNull(branch.endedAt)))
    .orderBy(asc(forkPullRequest.waitingSince));
  return rows.flatMap(({ fork, number, url, decidedBy }) => {
    const state = (["waiting", "approved", "declined"] as const).find((each) => each === fork.state);
    if (state === undefined || number === null) return [];
    const { title, author, headBranch, commitSha, commitMessage, commitAuthor } = fork;
    return {
      number,
      url,
      title,
      author,
      headBranch,
      commitSha,
      commitMessage,
      commitAuthor,
      state,
      repository: fork.repositoryFullName,
      waitingSince: fork.waitingSince.toISOString(),
      decidedBy: decidedBy && displayNameOf(decidedBy),
      decidedAt: fork.decidedAt?.toISOString() ?? null,
    };
  });
}
