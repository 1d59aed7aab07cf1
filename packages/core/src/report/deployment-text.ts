import type { BranchState, ReportedBuild } from "./branch-state.ts";
import { buildUrl, type Page } from "./check-text.ts";
import { shortened } from "./markdown.ts";
import type { DeploymentReport } from "./report.port.ts";

/** GitHub's limit of an environment's name. */
const maxEnvironment = 255;

/**
 * The deployment of a build, as it is now; null: GitHub is told of none. What was replaced, ended or canceled is inactive;
 * what never got as far as being built has no deployment. `isShared`: the organization deploys several servers from the
 * repository, which would otherwise share one environment.
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

function stateOf({ status, isLive, told }: ReportedBuild): DeploymentReport["state"] | null {
  const isKnown = told !== null && told.deploymentId !== null;
  switch (status) {
    case "queued":
      return isKnown ? "queued" : null;
    case "building":
      return "in_progress";
    case "failed":
      return "failure";
    case "canceled":
      return isKnown ? "inactive" : null;
    case "succeeded":
      if (isLive) return "success";
      return isKnown ? "inactive" : null;
  }
}
