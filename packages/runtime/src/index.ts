export {
  type IsolationConfig,
  isolationConfigFrom,
  sandboxSettings,
  serverLimitSettings,
  strictIsolation,
} from "./config.ts";
export type { Mount, SandboxSpec } from "./engine.ts";
export { SandboxError } from "./errors.ts";
export { createSandboxDriver, type HostLayers, type SandboxDriverConfig } from "./host-driver.ts";
export type {
  AdoptedServer,
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
} from "./port.ts";
export { inspectPath } from "./port.ts";
export { defaultFloodLimits, type FloodLimits } from "./process/flood.ts";
export { removeFolder } from "./process/remove-folder.ts";
export { processStartTime } from "./process/tree.ts";
export {
  installedPythons,
  pythonMount,
  pythonPrefix,
  type ResolvedPython,
  resolvePython,
} from "./python/resolve-python.ts";
export { sandboxHome } from "./sandbox/system-files.ts";
export { type CloudFacts, cloudEnvironment, codePath, dependencyPath } from "./server/server-spec.ts";
