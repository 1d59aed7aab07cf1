import {
  createAlertChannel,
  deleteAlertChannel,
  deliveryPageSchema,
  getLatencyRule,
  listAlertChannels,
  listAlertDeliveries,
  rotateAlertSecret,
  saveLatencyRule,
  testAlertChannel,
  updateAlertChannel,
} from "@towpath/core/operations/alert";
import { createChannelSchema, latencyRuleSchema, updateChannelSchema } from "@towpath/core/operations/alert/schema";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

/** Where alerts are sent, and when a server's calls are slow (CAP-6). */
export const alertOperations: readonly Operation[] = [
  operation("GET /organizations/{slug}/alert-channels", "listAlertChannels", "alert.read", {
    summary: "where alerts are sent",
    answer: answers.alertChannels,
    handle: ({ ctx, orgSlug }) => listAlertChannels({ ctx, input: { orgSlug } }),
  }),
  operation("POST /organizations/{slug}/alert-channels", "createAlertChannel", "alert.manage", {
    summary: "adds one: of `format` mail with `userIds`, of another with `url`; the signing secret is shown this once",
    body: createChannelSchema,
    answer: answers.newAlertChannel,
    handle: ({ ctx, orgSlug, body }) => createAlertChannel({ ctx, input: { ...body, orgSlug } }),
  }),
  operation("PATCH /organizations/{slug}/alert-channels/{channelId}", "updateAlertChannel", "alert.manage", {
    summary: "changes one, or switches it off or on with `enabled`",
    body: updateChannelSchema,
    answer: answers.alertChannel,
    handle: ({ ctx, orgSlug, params, body }) =>
      updateAlertChannel({ ctx, input: { ...body, orgSlug, channelId: params.channelId } }),
  }),
  operation("DELETE /organizations/{slug}/alert-channels/{channelId}", "deleteAlertChannel", "alert.manage", {
    summary: "deletes one with its deliveries",
    answer: answers.deleted,
    handle: ({ ctx, orgSlug, params }) => deleteAlertChannel({ ctx, input: { orgSlug, channelId: params.channelId } }),
  }),
  operation("POST /organizations/{slug}/alert-channels/{channelId}/secret", "rotateAlertSecret", "alert.manage", {
    summary: "makes a new signing secret, which is shown this once; for a day the earlier one signs too",
    answer: answers.newAlertChannel,
    handle: ({ ctx, orgSlug, params }) => rotateAlertSecret({ ctx, input: { orgSlug, channelId: params.channelId } }),
  }),
  operation("POST /organizations/{slug}/alert-channels/{channelId}/test", "testAlertChannel", "alert.manage", {
    summary: "sends a message now; the answer has the receiver's",
    answer: answers.alertDelivery,
    handle: ({ ctx, orgSlug, params }) => testAlertChannel({ ctx, input: { orgSlug, channelId: params.channelId } }),
  }),
  operation("GET /organizations/{slug}/alert-deliveries", "listAlertDeliveries", "alert.read", {
    summary: "the newest messages with their results; the next page with the last one's id as `before`",
    query: deliveryPageSchema,
    answer: answers.alertDeliveries,
    handle: ({ ctx, orgSlug, query }) => listAlertDeliveries({ ctx, input: { orgSlug, ...query } }),
  }),
  operation("GET /projects/{name}/latency-rule", "getLatencyRule", "project.read", {
    summary: "when its calls are slow",
    answer: answers.latencyRule,
    handle: ({ ctx, project }) => getLatencyRule({ ctx, input: { projectId: project.id } }),
  }),
  operation("PUT /projects/{name}/latency-rule", "saveLatencyRule", "project.update", {
    summary: "sets that: `latencyMs`, `latencyFactor`, or null for neither",
    body: latencyRuleSchema,
    answer: answers.latencyRule,
    handle: ({ ctx, project, body }) => saveLatencyRule({ ctx, input: { projectId: project.id, ...body } }),
  }),
];
