export type { AskGitHub, BranchAtGitHub, PullRequestAtGitHub } from "./branch-at-github.ts";
export { type ProcessWebhookInput, processWebhook } from "./process-webhook.ts";
export { getWebhookDelivery, receiveWebhook } from "./receive-webhook.ts";
export { requeueLostDeliveries, requeueLostHints } from "./requeue-lost-deliveries.ts";
export { type SyncBranchInput, syncBranch } from "./sync-branch.ts";
export { type InstallationAtGitHub, type SyncInstallationInput, syncInstallation } from "./sync-installation.ts";
export { type ReceiveWebhookInput, receiveWebhookSchema, type WebhookHint } from "./webhook.schema.ts";
