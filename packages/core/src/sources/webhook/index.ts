export { forkBranchName, pullRequestOfForkBranch } from "../../delivery/branch/index.ts";
export { processWebhook, type WebhookHint } from "./process-webhook.ts";
export { getWebhookDelivery, receiveWebhook } from "./receive-webhook.ts";
export { requeueLostDeliveries, requeueLostHints } from "./requeue-lost-deliveries.ts";
export { syncBranch } from "./sync-branch.ts";
export { syncInstallation } from "./sync-installation.ts";
export { unknownDeliveries } from "./unknown-deliveries.ts";
