export { finishBuild, liveCommit, sampleDiagnosis, sampleOutcome, succeedBuild } from "./build-steps.ts";
export { refusal, refusalCode } from "./expect-code.ts";
export { GitModel } from "./git-model.ts";
export { png } from "./png.ts";
export { openOrganization } from "./project-suite.ts";
export {
  memoryQueue,
  memoryRepositories,
  type SeededOrganization,
  seedExternalRoute,
  seedOrganization,
  seedProject,
  seedSecrets,
  seedUser,
  shaOf,
  testContext,
} from "./seed.ts";
export { sampleManifest, sampleTool, seedLiveProject, seedLiveVersion } from "./seed-live.ts";
