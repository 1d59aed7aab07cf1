import { branch, forkPullRequest, user } from "@towpath/db/schema";
import { and, asc, eq, isNull } from "drizzle-orm";
import { z } from "zod";
import { authorizeProject } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { displayNameOf } from "../../tenancy/organization/index.ts";

/** An open pull request from a fork, and the state of its head (BLD-9). */
export const forkPullRequestSchema = z.object({
  number: z.number().int(),
  url: z.string().nullable(),
  title: z.string(),
  /** Login of who opened it. */
  author: z.string(),
  /** owner/name of the fork; null once it was deleted. */
  repository: z.string().nullable(),
  headBranch: z.string(),
  commitSha: z.string(),
  commitMessage: z.string().nullable(),
  commitAuthor: z.string().nullable(),
  state: z.enum(["waiting", "approved", "declined"]),
  waitingSince: z.iso.datetime(),
  decidedBy: z.string().nullable(),
  decidedAt: z.iso.datetime().nullable(),
});
export type ForkPullRequestView = z.infer<typeof forkPullRequestSchema>;

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
    const state = forkPullRequestSchema.shape.state.safeParse(fork.state).data;
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
