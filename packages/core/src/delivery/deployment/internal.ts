export {
  type DeploymentSummary,
  deploymentSummary,
  isLiveColumn,
  isRolledBack,
  ownSignIn,
  warningCount,
} from "./deployment.view.ts";
export { type InstanceState, instanceState } from "./instance-state.ts";
export { newestInstance, toolCount } from "./server-status.store.ts";
