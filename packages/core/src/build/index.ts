export { authorizeBuild } from "./authorize-build.ts";
export {
  type ListBuildsInput,
  listBuildsSchema,
  type StartBuildInput,
  startBuildSchema,
} from "./build.schema.ts";
export { isEnded } from "./build.state.ts";
export type { BuildPage, BuildSummary, BuildView } from "./build.view.ts";
export { failBuild } from "./fail-build.ts";
export { getBuild } from "./get-build.ts";
export { keepBuild } from "./keep-build.ts";
export { listBuilds } from "./list-builds.ts";
export { redeployBuild } from "./redeploy-build.ts";
export { releaseBuild } from "./release-build.ts";
export { requeueLostBuilds } from "./requeue-lost-builds.ts";
export { startBuild } from "./start-build.ts";
export { type TakenBuild, takeBuild } from "./take-build.ts";
export { takeNextBuild } from "./take-next-build.ts";
