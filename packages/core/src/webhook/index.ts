export { getWebhookDelivery } from "./get-webhook-delivery.ts";
export { type ProcessWebhookInput, processWebhook, type ReadHead } from "./process-webhook.ts";
export { receiveWebhook } from "./receive-webhook.ts";
export { requeueLostDeliveries } from "./requeue-lost-deliveries.ts";
export { type ReceiveWebhookInput, receiveWebhookSchema, type WebhookChange } from "./webhook.schema.ts";
