import type { Transaction } from "@towpath/db";
import type { Context } from "../../context/index.ts";
import type { MailSender, WebhookAnswer } from "../../ports/index.ts";
import { type ChannelFormat, channelFormats } from "./alert.schema.ts";
import { alertMail } from "./alert-mail.ts";
import { type ChannelRow, membersOf, openedSecrets } from "./channel.store.ts";
import { signedHeaders } from "./sign-webhook.ts";
import { type AlertMessage, webhookBody } from "./webhook-body.ts";
import { withoutAddress } from "./without-address.ts";

/** Posts a message to the address of a webhook, signed with its secret, and while that is replaced with both. */
export async function postMessage(
  ctx: Context<"secrets" | "webhooks">,
  channel: ChannelRow,
  { id, message }: { readonly id: string; readonly message: AlertMessage },
): Promise<WebhookAnswer> {
  const now = ctx.clock.now();
  const { url, secret, previous } = openedSecrets(ctx, channel);
  const secrets = [secret, ...(previous && previous.until > now.toISOString() ? [previous.secret] : [])];
  const format = channelFormats.find((each) => each === channel.format) ?? "standard";
  const body = webhookBody(format as Exclude<ChannelFormat, "mail">, message);
  const answer = await ctx.webhooks.post({ url, headers: signedHeaders(secrets, { id, body, at: now }), body });
  return answer.kind === "answered" ? { ...answer, text: withoutAddress(answer.text, url) } : answer;
}

/**
 * Queues the email of a message to those recipients of a channel who are members, in the transaction that marks it as
 * sent. Returns the ids of the messages.
 *
 * @throws TowpathError `limit_reached`
 */
export async function queueMail(
  tx: Transaction,
  mail: MailSender,
  channel: ChannelRow,
  { message, sender }: { readonly message: AlertMessage; readonly sender: string | null },
): Promise<readonly string[]> {
  const recipients = await membersOf(tx, channel.organizationId, channel.userIds ?? []);
  const ids: string[] = [];
  for (const { email } of recipients) {
    const { id } = await mail.send(alertMail(message, { to: email, channel: channel.name, sender }), tx);
    ids.push(id);
  }
  return ids;
}
