export { dialTarget, type ServerEndpoint, secretHeader } from "@towpath/runner-api/endpoint";
export {
  type DriverConfig,
  driverConfigFrom,
  driverSettings,
  serverLimitSettings,
  serverLimitsFrom,
} from "./config.ts";
export { endLeftServers, type Leftovers } from "./host/leftovers.ts";
export { claimServers, findLeftovers, openDataCopies, openDriver, openRestoredData, testHost } from "./open-driver.ts";
export {
  type BuildDriver,
  type BuildStep,
  type BuildWorkspace,
  buildImage,
  type VolumeEntry,
  type VolumeMount,
} from "./port/builds.ts";
export { cloudEnvironment } from "./port/cloud-environment.ts";
export type { RunnerIdentity, RuntimeDriver } from "./port/driver.ts";
export { SandboxError } from "./port/errors.ts";
export { type Exit, type LastLines, type Limits, lineCutMark, type OutputSink } from "./port/execution.ts";
export type { DataCopies, HostReport, Isolation, Pythons } from "./port/host.ts";
export {
  type BridgeKind,
  type HarnessStatus,
  type Incomplete,
  type InstanceHandle,
  type InstanceSpec,
  inspectPath,
  type LateStart,
  type Prewarmed,
  type PrewarmSpec,
  poolObstacles,
  type ServerDriver,
  type ServerSpec,
  type StartResult,
  type Survivor,
} from "./port/servers.ts";
