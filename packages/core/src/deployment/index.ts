export { createDeployment } from "./create-deployment.ts";
export type { BranchView } from "./deployment.view.ts";
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
export { type GoLiveResult, goLive } from "./go-live.ts";
export { makeDeploymentLive } from "./make-live.ts";
