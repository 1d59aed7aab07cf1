import { createServerFn } from "@tanstack/react-start";
import {
  createAlertChannel,
  deleteAlertChannel,
  listAlertChannels,
  listAlertDeliveries,
  rotateAlertSecret,
  testAlertChannel,
  updateAlertChannel,
} from "@towpath/core/operations/alert";
import { createChannelSchema, updateChannelSchema } from "@towpath/core/operations/alert/schema";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { organizationAccess } from "~/http/access.ts";
import { exactInput, input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

const organizationInput = z.object({ orgSlug: z.string() });
const channelInput = organizationInput.extend({ channelId: z.uuid() });

/** Where alerts are sent, the newest messages, and whether this instance can send email (CAP-6). */
const getAlerts = createServerFn({ method: "GET" })
  .middleware([organizationAccess("alert.read")])
  .validator(input(organizationInput))
  .handler(async ({ context: { ctx }, data }) => ({
    channels: await listAlertChannels({ ctx, input: data }),
    deliveries: await listAlertDeliveries({ ctx, input: data }),
    sendsMail: services().config.sendsMail,
  }));

/** Adds a channel. Only this response has the secret of a webhook. */
export const createChannel = createServerFn({ method: "POST" })
  .middleware([organizationAccess("alert.manage")])
  .validator(exactInput(createChannelSchema.safeExtend({ orgSlug: z.string() })))
  .handler(({ context, data }) => createAlertChannel({ ctx: context.ctx, input: data }));

export const updateChannel = createServerFn({ method: "POST" })
  .middleware([organizationAccess("alert.manage")])
  .validator(exactInput(updateChannelSchema.extend(channelInput.shape)))
  .handler(({ context, data }) => updateAlertChannel({ ctx: context.ctx, input: data }));

export const deleteChannel = createServerFn({ method: "POST" })
  .middleware([organizationAccess("alert.manage")])
  .validator(input(channelInput))
  .handler(({ context, data }) => deleteAlertChannel({ ctx: context.ctx, input: data }));

/** Makes a new signing secret; only this response has it. */
export const rotateSecret = createServerFn({ method: "POST" })
  .middleware([organizationAccess("alert.manage")])
  .validator(input(channelInput))
  .handler(({ context, data }) => rotateAlertSecret({ ctx: context.ctx, input: data }));

/** Sends a real message now, and returns how that went. */
export const testChannel = createServerFn({ method: "POST" })
  .middleware([organizationAccess("alert.manage")])
  .validator(input(channelInput))
  .handler(({ context, data }) => testAlertChannel({ ctx: context.ctx, input: data }));

export const alertsQuery = (orgSlug: string) => queryOf(["alerts", orgSlug], getAlerts, { orgSlug });
