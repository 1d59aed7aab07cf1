export { type CallOptions, createRunnerClient, type RunnerClient } from "./client.ts";
export {
  type LeasedInstance,
  RunnerError,
  type RunnerErrorCode,
  type RunnerInstance,
  type RunnerIsolation,
} from "./contract.ts";
export {
  dialTarget,
  type Endpoint,
  endpointKey,
  isBacklogFull,
  isDialFailure,
  type RunnerAddress,
} from "./endpoint.ts";
export { assertNoRunner, createRunnerApi, type RunnerApi, type RunnerHandlers } from "./server.ts";
export { runnerAddressFrom, runnerSettings } from "./settings.ts";
