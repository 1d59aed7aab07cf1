import type { Mail } from "../../ports/index.ts";
import { inert } from "./alert.content.ts";
import { type AlertMessage, outlineOf } from "./webhook-body.ts";

/** The email about a message, to one member. `sender`: who tests a channel; null for what happens by itself. Pure. */
export function alertMail(
  message: AlertMessage,
  { to, channel, sender }: { readonly to: string; readonly channel: string; readonly sender: string | null },
): Mail {
  const { title, text, facts, url } = outlineOf(message);
  const items = message.kind === "digest" ? message.items : [];
  return {
    purpose: "alert",
    to,
    sender,
    subject: title,
    paragraphs: [
      inert(text),
      ...items.map(({ content }) => `${inert(content.title)}\n${content.url}`),
      ...(facts.length === 0 ? [] : [facts.map(({ name, value }) => `${name}: ${inert(value)}`).join("\n")]),
    ],
    action: { label: "Open in Towpath", url },
    footnote: `The alert channel ${channel} of ${message.organization.name} sends to you. An admin can change that under Settings, Alerts.`,
  };
}
