import type { Transaction } from "@towpath/db";
import { alertChannel, alertDelivery, organization as organizations } from "@towpath/db/schema";
import { and, count, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { actingUserId, authorize } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import {
  type CreateChannelInput,
  createChannelSchema,
  type QuietHours,
  type UpdateChannelInput,
  updateChannelSchema,
} from "./alert.schema.ts";
import {
  type ChannelRow,
  dropWaiting,
  membersOf,
  openedSecrets,
  projectsOf,
  requireChannel,
  sealedSecrets,
} from "./channel.store.ts";
import { type ChannelView, channelView, channelViews, type NewChannelView } from "./channel.view.ts";
import { newSigningSecret } from "./sign-webhook.ts";

type OrganizationInput = { readonly orgSlug: string };
type ChannelInput = OrganizationInput & { readonly channelId: string };

const maxChannels = 30;
/** For so long a replaced secret signs too. */
const overlapMs = 24 * 3_600_000;

const invalid = (field: string, message: string) =>
  new TowpathError("invalid_input", message, { fields: { [field]: message } });

/** The organization's channels, oldest first. */
export async function listAlertChannels({ ctx, input }: Call<OrganizationInput>): Promise<readonly ChannelView[]> {
  const { organization } = await authorize(ctx, "alert.read", { orgSlug: input.orgSlug });
  return channelViews(ctx.db, organization.id);
}

/**
 * Adds a channel. Nothing is sent yet: see `testAlertChannel`.
 *
 * @throws TowpathError `forbidden` for a lower role, `invalid_input`, `not_configured` for email without a mail server
 */
export async function createAlertChannel(
  call: Call<OrganizationInput & CreateChannelInput, "secrets" | "webhooks" | "mail">,
): Promise<NewChannelView> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "alert.manage", { orgSlug: call.input.orgSlug });
  const { quietHours, url, userIds, ...input } = parseInput(createChannelSchema, call.input);
  const isMail = input.format === "mail";
  if (isMail && ctx.mail === null)
    throw new TowpathError(
      "not_configured",
      "This instance sends no email. Choose a webhook, or ask the operator to set TOWPATH_SMTP_URL.",
    );
  requireAddress(ctx, isMail ? undefined : url);
  const [organizationId, now] = [organization.id, ctx.clock.now()];
  const keyed = { id: newId(), organizationId };
  return ctx.db.transaction(async (tx) => {
    await requireRoom(tx, organizationId);
    await requireOwn(tx, organizationId, { userIds: isMail ? userIds : undefined, projectIds: input.projectIds });
    const secret = isMail ? null : newSigningSecret();
    const sealed =
      secret === null ? null : await sealedSecrets(tx, ctx, keyed, { url: url ?? "", secret, previous: null });
    const [row] = await tx
      .insert(alertChannel)
      .values({
        ...input,
        ...keyed,
        ...quietColumns(quietHours),
        ...sealed,
        userIds: isMail ? userIds : null,
        createdByUserId: actingUserId(ctx),
        createdAt: now,
        nextAttemptAt: now,
        updatedAt: now,
      })
      .returning();
    if (!row) throw new Error("the channel was not stored");
    const { name, format, host, events } = row;
    await audit(tx, ctx, {
      organizationId,
      action: "alertChannel.create",
      subject: row.id,
      detail: { name, format, host, events },
    });
    return { channel: await channelView(tx, row), secret };
  });
}

/** Changes a channel; fields that are left out stay. What waits for one that is switched off is not sent. */
export async function updateAlertChannel(
  call: Call<ChannelInput & UpdateChannelInput, "secrets" | "webhooks">,
): Promise<ChannelView> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "alert.manage", { orgSlug: call.input.orgSlug });
  const { quietHours, url, userIds, enabled, ...input } = parseInput(updateChannelSchema, call.input);
  const [organizationId, now] = [organization.id, ctx.clock.now()];
  const found = await requireChannel(ctx.db, { organizationId, channelId: call.input.channelId });
  const isMail = found.format === "mail";
  if (isMail && url !== undefined) throw invalid("url", "An email channel has no address. Choose its members instead.");
  if (!isMail && userIds !== undefined) throw invalid("userIds", "Only an email channel has members.");
  requireAddress(ctx, url);
  return ctx.db.transaction(async (tx) => {
    const before = await lockChannel(tx, found);
    await requireOwn(tx, organizationId, { userIds, projectIds: input.projectIds });
    const sealed =
      url === undefined ? null : await sealedSecrets(tx, ctx, before, { ...openedSecrets(ctx, before), url });
    const [row] = await tx
      .update(alertChannel)
      .set({
        ...input,
        ...sealed,
        ...(quietHours !== undefined && quietColumns(quietHours)),
        ...(userIds && { userIds }),
        ...(enabled !== undefined && { disabledFor: enabled ? null : (before.disabledFor ?? "off") }),
        // Whoever corrects a channel wants to see it work now.
        failures: 0,
        nextAttemptAt: now,
        updatedAt: now,
      })
      .where(ofChannel(before))
      .returning();
    if (!row) throw deletedMeanwhile();
    if (enabled === false) await dropWaiting(tx, row.id, "The channel was switched off.", now);
    // The round that releases what is held looks at the new hours.
    if (quietHours !== undefined)
      await tx
        .update(alertDelivery)
        .set({ dueAt: now })
        .where(and(eq(alertDelivery.channelId, row.id), eq(alertDelivery.status, "held")));
    const changed = Object.entries({ ...input, quietHours, userIds, enabled, ...(url && { url: row.host }) });
    await audit(tx, ctx, {
      organizationId,
      action: "alertChannel.update",
      subject: row.id,
      detail: { name: row.name, changed: Object.fromEntries(changed.filter(([, value]) => value !== undefined)) },
    });
    return channelView(tx, row);
  });
}

/** Deletes a channel with its deliveries. */
export async function deleteAlertChannel({ ctx, input }: Call<ChannelInput>): Promise<{ readonly id: string }> {
  const { organization } = await authorize(ctx, "alert.manage", { orgSlug: input.orgSlug });
  const organizationId = organization.id;
  const row = await requireChannel(ctx.db, { organizationId, channelId: input.channelId });
  await ctx.db.transaction(async (tx) => {
    await tx.delete(alertChannel).where(ofChannel(row));
    await audit(tx, ctx, {
      organizationId,
      action: "alertChannel.delete",
      subject: row.id,
      detail: { name: row.name },
    });
  });
  return { id: row.id };
}

/** Gives a webhook a new secret, which is shown this once. For a day the earlier one signs too. */
export async function rotateAlertSecret({ ctx, input }: Call<ChannelInput, "secrets">): Promise<NewChannelView> {
  const { organization } = await authorize(ctx, "alert.manage", { orgSlug: input.orgSlug });
  const organizationId = organization.id;
  const found = await requireChannel(ctx.db, { organizationId, channelId: input.channelId });
  if (found.format === "mail") throw invalid("channelId", "Email has no signing secret. Only webhooks are signed.");
  const secret = newSigningSecret();
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const locked = await lockChannel(tx, found);
    const { url, secret: earlier } = openedSecrets(ctx, locked);
    const until = new Date(now.getTime() + overlapMs).toISOString();
    const sealed = await sealedSecrets(tx, ctx, locked, { url, secret, previous: { secret: earlier, until } });
    const [row] = await tx
      .update(alertChannel)
      .set({ ...sealed, updatedAt: now })
      .where(ofChannel(locked))
      .returning();
    await audit(tx, ctx, {
      organizationId,
      action: "alertChannel.rotate",
      subject: locked.id,
      detail: { name: locked.name },
    });
    return { channel: await channelView(tx, row ?? locked), secret };
  });
}

const ofChannel = ({ id, organizationId }: Pick<ChannelRow, "id" | "organizationId">) =>
  and(eq(alertChannel.organizationId, organizationId), eq(alertChannel.id, id));

/**
 * Until the transaction ends, nobody else changes it: address and secret are sealed together, so one of two changes at
 * once would undo the other's.
 */
async function lockChannel(tx: Transaction, found: ChannelRow): Promise<ChannelRow> {
  const [locked] = await tx.select().from(alertChannel).where(ofChannel(found)).for("update");
  if (!locked) throw deletedMeanwhile();
  return locked;
}

const deletedMeanwhile = () => new TowpathError("conflict", "Someone else just deleted this channel. Reload the page.");

const quietColumns = (hours: QuietHours | null) => ({
  quietFrom: hours?.from ?? null,
  quietTo: hours?.to ?? null,
  timeZone: hours?.timeZone ?? null,
});

function requireAddress(ctx: Context<"webhooks">, url: string | undefined): void {
  const problem = url === undefined ? null : ctx.webhooks.problemOf(url);
  if (problem !== null) throw invalid("url", problem);
}

/** One creation at a time: several could exceed the number together. */
async function requireRoom(tx: Transaction, organizationId: string): Promise<void> {
  const { id } = organizations;
  await tx.select({ id }).from(organizations).where(eq(id, organizationId)).for("no key update");
  const ofOrganization = eq(alertChannel.organizationId, organizationId);
  const [found] = await tx.select({ count: count() }).from(alertChannel).where(ofOrganization);
  if (found && found.count >= maxChannels)
    throw invalid("name", `An organization has at most ${maxChannels} alert channels. Delete one first.`);
}

/** Everybody and every server that a channel names belongs to the organization. */
async function requireOwn(
  tx: Transaction,
  organizationId: string,
  {
    userIds,
    projectIds,
  }: { readonly userIds?: readonly string[] | undefined; readonly projectIds?: readonly string[] | null | undefined },
): Promise<void> {
  if (userIds && (await membersOf(tx, organizationId, userIds)).length !== userIds.length)
    throw invalid("userIds", "One of them is no longer a member. Reload the page and choose again.");
  if (projectIds && (await projectsOf(tx, organizationId, projectIds)).length !== projectIds.length)
    throw invalid("projectIds", "One of the servers does not exist. Reload the page and choose again.");
}
