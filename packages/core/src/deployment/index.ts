export { type BuildOutcome, createDeployment, type NewDeployment } from "./create-deployment.ts";
export type { BranchView, DeploymentSummary, DeploymentView } from "./deployment.view.ts";
export { getBuildByDeployment } from "./get-build-by-deployment.ts";
export { authorizeDeployment, getDeployment } from "./get-deployment.ts";
export { getLastSuccessfulBuild, getLastSuccessfulBuildByBranch } from "./get-last-successful-build.ts";
export { getMostRecentDeployment } from "./get-most-recent-deployment.ts";
export { type GoLiveResult, goLive } from "./go-live.ts";
export { listBranchesWithDeployments } from "./list-branches-with-deployments.ts";
