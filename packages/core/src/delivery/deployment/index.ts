export { createDeployment } from "./create-deployment.ts";
export { approveDeployment, rejectDeployment } from "./decide-approval.ts";
export {
  type BranchView,
  deploymentSummarySchema,
  deploymentViewSchema,
  type ReplacedVersion,
} from "./deployment.view.ts";
export {
  authorizeDeployment,
  getBuildByDeployment,
  getDeployment,
  getMostRecentDeployment,
  listBranchesWithDeployments,
} from "./get-deployment.ts";
export {
  getCurrentBuild,
  getLastSuccessfulBuild,
  getLastSuccessfulBuildByBranch,
} from "./get-last-successful-build.ts";
export { getManifest } from "./get-manifest.ts";
export {
  getServerStatus,
  listBranchDeploymentIds,
  type ServerStatusView,
  serverStatusSchema,
} from "./get-server-status.ts";
export { type GoLiveResult, goLive } from "./go-live.ts";
export type { InstanceState } from "./instance-state.ts";
export { type DeployedCommit, findDeployedCommit, findDeployments, listRecentDeployments } from "./list-deployments.ts";
export { makeDeploymentLive } from "./make-live.ts";
export { promoteDeployment } from "./promote-deployment.ts";
export { withdrawDeployment } from "./withdraw-deployment.ts";
