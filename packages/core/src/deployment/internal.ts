export { type DeploymentSummary, deploymentSummary, isLiveColumn, warningCount } from "./deployment-summary.ts";
