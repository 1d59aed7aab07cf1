export { type BuildOutcome, createDeployment, type NewDeployment } from "./create-deployment.ts";
export type { BranchView, DeploymentView } from "./deployment.view.ts";
export type { DeploymentSummary } from "./deployment-summary.ts";
export { authorizeDeployment, getBuildByDeployment, getDeployment, getMostRecentDeployment } from "./get-deployment.ts";
export { getLastSuccessfulBuild, getLastSuccessfulBuildByBranch } from "./get-last-successful-build.ts";
export { type GoLiveResult, goLive } from "./go-live.ts";
export { listBranchesWithDeployments } from "./list-branches-with-deployments.ts";
