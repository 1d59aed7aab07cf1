export { countsForServer } from "./caller-instances.store.ts";
export {
  deploymentSummary,
  deploymentSummarySchema,
  isLiveColumn,
  isRolledBack,
  ownSignIn,
  warningCount,
} from "./deployment.view.ts";
export { instanceState, instanceStateSchema } from "./instance-state.ts";
export { newestInstance, toolCount } from "./server-status.store.ts";
