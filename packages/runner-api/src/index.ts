export { createRunnerClient, type RunnerClient } from "./client.ts";
export {
  type LeasedInstance,
  type PrewarmReport,
  RunnerError,
  type RunnerErrorCode,
  type RunnerInstance,
  type ServerState,
} from "./contract.ts";
export {
  dialTarget,
  type Endpoint,
  endpointKey,
  isBacklogFull,
  isDialFailure,
  isOtherInstance,
  type RunnerAddress,
  type ServerEndpoint,
  secretHeader,
} from "./endpoint.ts";
export { type AroundCall, assertNoRunner, createRunnerApi, type RunnerHandlers } from "./server.ts";
export { isOfCaller, partsOf, type ServerKey, serverKeyOf } from "./server-key.ts";
export {
  runnerAddressFrom,
  runnerListenAddressFrom,
  runnerListenSettings,
  runnerSettings,
} from "./settings.ts";
