export {
  type IsolationConfig,
  isolationConfigFrom,
  sandboxSettings,
  serverLimitSettings,
  strictIsolation,
} from "./config.ts";
export { SandboxError } from "./errors.ts";
export type {
  AdoptedServer,
  Exit,
  ExitReason,
  HarnessFailureCode,
  HarnessStatus,
  InstanceHandle,
  InstanceSpec,
  Isolation,
  Limits,
  Mount,
  Network,
  OutputSink,
  OutputStream,
  RunOptions,
  RuntimeDriver,
  SandboxSpec,
  StartResult,
  Survivor,
} from "./port.ts";
export { defaultFloodLimits, type FloodLimits } from "./process/flood.ts";
export { removeFolder } from "./process/remove-folder.ts";
export { processStartTime } from "./process/tree.ts";
export { installedPythons, pythonMount, type ResolvedPython, resolvePython } from "./python/resolve-python.ts";
export { createSandboxDriver, type SandboxDriverConfig } from "./sandbox/driver.ts";
export { sandboxHome } from "./sandbox/system-files.ts";
export { type CloudFacts, cloudEnvironment } from "./server/cloud-environment.ts";
export { harnessStatusSchema } from "./server/harness-status.ts";
export {
  codePath,
  dependencyPath,
  harnessDirectory,
  harnessPath,
  inspectPath,
  pythonPrefix,
  runtimeDirectory,
  socketName,
  statusName,
} from "./server/inside-paths.ts";
export { type ServerSpecInput, serverSandboxSpec } from "./server/server-spec.ts";
