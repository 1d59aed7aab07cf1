export { type DeploymentSummary, deploymentSummary, isLiveColumn, warningCount } from "./deployment.view.ts";
