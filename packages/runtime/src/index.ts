export { dialTarget, type ServerEndpoint, secretHeader } from "@towpath/runner-api/endpoint";
export { buildImage, pickBuildEnvironment } from "./build/step-spec.ts";
export {
  dataSettings,
  type IsolationConfig,
  isolationConfigFrom,
  pythonDownloadsFrom,
  pythonSettings,
  sandboxSettings,
  serverLimitSettings,
  strictIsolation,
} from "./config.ts";
export { Volumes } from "./data/volumes.ts";
export { SandboxError } from "./errors.ts";
export { createSandboxDriver, type SandboxDriverConfig } from "./host-driver.ts";
export type {
  BridgeKind,
  BuildStep,
  BuildWorkspace,
  Exit,
  HarnessStatus,
  Incomplete,
  InstanceHandle,
  InstanceSpec,
  Isolation,
  LastLines,
  Limits,
  OutputSink,
  RuntimeDriver,
  ServerSpec,
  StartResult,
  Survivor,
  VolumeMount,
} from "./port.ts";
export { inspectPath } from "./port.ts";
export type { Prewarmed, PrewarmSpec } from "./prewarm/prewarm-port.ts";
export { lineCutNote } from "./process/lines.ts";
export { hasEnded, processName } from "./process/process-name.ts";
export { removeDirectory } from "./process/remove-directory.ts";
export type { PythonDownloads } from "./python/bring-python.ts";
export type { LateStart } from "./server/late-start.ts";
export { cloudEnvironment } from "./server/server-spec.ts";
