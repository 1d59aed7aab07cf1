export { getWebhookDelivery } from "./get-webhook-delivery.ts";
export { type ProcessWebhookInput, processWebhook } from "./process-webhook.ts";
export { receiveWebhook } from "./receive-webhook.ts";
export { requeueLostDeliveries, requeueLostHints } from "./requeue-lost-deliveries.ts";
export {
  type AskGitHub,
  type BranchAtGitHub,
  type PullRequestAtGitHub,
  type SyncBranchInput,
  syncBranch,
} from "./sync-branch.ts";
export { type InstallationAtGitHub, type SyncInstallationInput, syncInstallation } from "./sync-installation.ts";
export { type ReceiveWebhookInput, receiveWebhookSchema, type WebhookHint } from "./webhook.schema.ts";
