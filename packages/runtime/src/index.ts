export { buildImage, pickBuildEnvironment } from "./build/step-spec.ts";
export {
  type IsolationConfig,
  isolationConfigFrom,
  sandboxSettings,
  serverLimitSettings,
  strictIsolation,
} from "./config.ts";
export { SandboxError } from "./errors.ts";
export { createSandboxDriver, type SandboxDriverConfig } from "./host-driver.ts";
export type {
  AdoptedServer,
  BuildSpec,
  BuildStep,
  BuildVolume,
  BuildWorkspace,
  Endpoint,
  Exit,
  ExitReason,
  HarnessFailureCode,
  HarnessStatus,
  InstanceHandle,
  InstanceSpec,
  Isolation,
  Limits,
  Network,
  OutputSink,
  OutputStream,
  RunOptions,
  RuntimeDriver,
  ServerSpec,
  StartResult,
  Survivor,
  VolumeMount,
} from "./port.ts";
export { inspectPath } from "./port.ts";
export { defaultFloodLimits, type FloodLimits } from "./process/flood.ts";
export { removeFolder } from "./process/remove-folder.ts";
export { processStartTime } from "./process/tree.ts";
export { type CloudFacts, cloudEnvironment } from "./server/server-spec.ts";
