import { organization } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { addressOf, type JobPayloads } from "../../ports/index.ts";
import type { GitHubReporter } from "./report.port.ts";
import { reportPullRequest } from "./report-pull-request.ts";

type Leaving = JobPayloads["repository.leave"];
type Check = Leaving["checks"][number];

export type LeaveRepositoryInput = { readonly leaving: Leaving; readonly reporter: GitHubReporter };

/**
 * Reports to a repository of GitHub that a server has left it: ends its deployments and checks, and brings the comments of its
 * pull requests to the servers that are left. Idempotent.
 *
 * @throws when GitHub is unavailable, or somebody else writes the comment; the job is then retried
 */
export async function leaveRepository({ ctx, input }: Call<LeaveRepositoryInput, "secrets">): Promise<void> {
  authorizePlatform(ctx);
  const { reporter } = input;
  const { dashboardUrl } = ctx;
  const { organizationId, name, installationId, fullName, repositoryId } = input.leaving;
  const address = addressOf(installationId, fullName);
  const ended = { description: `Towpath: ${name}`, logUrl: dashboardUrl };
  for (const id of input.leaving.deployments) await reporter.endDeployment(address, id, ended);
  for (const check of input.leaving.checks)
    await reporter.check(address, leftCheck(name, check, dashboardUrl), check.id);
  const [of] = await ctx.db
    .select({ orgSlug: organization.slug })
    .from(organization)
    .where(eq(organization.id, organizationId));
  if (!of) return;
  for (const number of new Set(input.leaving.pullRequests)) {
    const key = { organizationId, repositoryId, number };
    const outcome = await reportPullRequest({ ctx, at: { key, address, ...of }, reporter });
    if (outcome === "busy") throw new Error(`another worker writes the comment of pull request ${number}`);
  }
}

const leftCheck = (name: string, { sha, externalId }: Check, detailsUrl: string) => ({
  sha,
  name: `towpath/${name}`,
  externalId,
  detailsUrl,
  ...({ status: "completed", conclusion: "cancelled", title: "Ended", text: null, actions: [] } as const),
  summary: "This server is no longer deployed from this repository.",
});
