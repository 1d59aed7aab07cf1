export { type ListBuildsInput, listBuildsSchema, type StartBuildInput, startBuildSchema } from "./build.schema.ts";
export { isEnded } from "./build.state.ts";
export type { BuildPage, BuildSummary, BuildView } from "./build.view.ts";
export { authorizeBuild, getBuild, listBuilds } from "./get-build.ts";
export { redeployBuild } from "./redeploy-build.ts";
export { requeueLostBuilds } from "./requeue-lost-builds.ts";
export { failBuild, keepBuild, releaseBuild } from "./run-build.ts";
export { startBuild } from "./start-build.ts";
export { type TakenBuild, takeBuild, takeNextBuild } from "./take-build.ts";
