export { forkBranchName, pullRequestOfForkBranch } from "../branch/index.ts";
export type { AskGitHub, BranchAtSource, PullRequestAtGitHub } from "./branch-at-source.ts";
export { processWebhook, type WebhookHint } from "./process-webhook.ts";
export { getWebhookDelivery, receiveWebhook } from "./receive-webhook.ts";
export { requeueLostDeliveries, requeueLostHints } from "./requeue-lost-deliveries.ts";
export { syncBranch } from "./sync-branch.ts";
export { type InstallationAtGitHub, syncInstallation } from "./sync-installation.ts";
export { unknownDeliveries } from "./unknown-deliveries.ts";
