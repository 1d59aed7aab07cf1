export { type ChannelView, channelViewSchema, newChannelSchema } from "./channel.view.ts";
export {
  createAlertChannel,
  deleteAlertChannel,
  listAlertChannels,
  rotateAlertSecret,
  updateAlertChannel,
} from "./channels.ts";
export { claimAlert, deliverAlert } from "./deliver-alerts.ts";
export {
  type DeliveryView,
  deliveryPageSchema,
  deliveryViewSchema,
  listAlertDeliveries,
  testAlertChannel,
} from "./deliveries.ts";
export { expandAlerts, releaseHeldAlerts } from "./expand-alerts.ts";
export { getLatencyRule, listWatchedProjects, recordLatency, saveLatencyRule } from "./latency-rule.ts";
export { type AlertEvent, raiseAlert } from "./raise-alert.ts";
