export { startBuildSchema } from "./build.schema.ts";
export { isEnded } from "./build.state.ts";
export {
  type BuildPage,
  type BuildSummary,
  type BuildView,
  buildSummarySchema,
  buildViewSchema,
} from "./build.view.ts";
export { buildNewVersions } from "./build-new-versions.ts";
export { cancelBuild } from "./cancel-build.ts";
export { authorizeBuild, getBuild, listBuilds } from "./get-build.ts";
export { holdBuilds } from "./hold-builds.ts";
export { rebuildLostLayers } from "./rebuild-lost-layers.ts";
export { redeployBuild } from "./redeploy-build.ts";
export { requeueLostBuilds } from "./requeue-lost-builds.ts";
export { failBuild, keepBuild, releaseBuild } from "./run-build.ts";
export { startBuild } from "./start-build.ts";
export { type TakenBuild, takeBuild, takeNextBuild, unlessBuilding } from "./take-build.ts";
