import type { BranchState, ReportedBuild } from "./branch-state.ts";
import { buildUrl, type Page } from "./check-text.ts";
import { shortened } from "./markdown.ts";
import type { DeploymentReport } from "./report.port.ts";

/** GitHub's limit of an environment's name. */
const maxEnvironment = 255;

/** Whether GitHub has a deployment of a build that is not served any more: it was replaced, ended or canceled. */
export const hasLeft = ({ status, isLive, reported }: ReportedBuild): boolean =>
  reported !== null && reported.deploymentId !== null && (status === "canceled" || (status === "succeeded" && !isLive));

/**
 * The deployment of a build, as it is now; null: none is reported. What never got as far as being built has none.
 * `isShared`: the organization deploys several servers from the repository, which would otherwise share one environment.
 */
export function deploymentOfBuild(
  { branch, project }: BranchState,
  build: ReportedBuild,
  page: Page,
  isShared: boolean,
): DeploymentReport | null {
  const state = stateOf(build);
  if (state === null) return null;
  const place = branch.isDefault ? "production" : `preview/${branch.name.replace(":", "/")}`;
  return {
    sha: build.commitSha,
    environment: shortened(isShared ? `${project.name}/${place}` : place, maxEnvironment),
    transient: !branch.isDefault,
    description: `Towpath: ${project.name}`,
    key: build.id,
    state,
    logUrl: buildUrl(page, build.id),
    environmentUrl: state === "success" ? build.url : null,
  };
}

function stateOf({ status, isLive, reported }: ReportedBuild): DeploymentReport["state"] | null {
  switch (status) {
    case "queued":
      return reported !== null && reported.deploymentId !== null ? "queued" : null;
    case "building":
      return "in_progress";
    case "failed":
      return "failure";
    case "canceled":
      return null;
    case "succeeded":
      return isLive ? "success" : null;
  }
}
