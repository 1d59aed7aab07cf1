export { type DeploymentSummary, deploymentSummary, isLiveColumn, ownSignIn, warningCount } from "./deployment.view.ts";
