import { oneLine } from "../../input/index.ts";
import { type AlertContent, inert } from "./alert.content.ts";
import type { ChannelFormat } from "./alert.schema.ts";
import type { AlertEvent } from "./raise-alert.ts";

/** What a message says: one event, those of a digest, or that the channel works. */
export type AlertMessage = {
  readonly at: Date;
  readonly organization: { readonly slug: string; readonly name: string };
} & (
  | { readonly kind: "alert"; readonly event: AlertEvent; readonly content: AlertContent }
  | {
      readonly kind: "digest";
      readonly items: readonly { readonly event: AlertEvent; readonly content: AlertContent }[];
      /** All, though only the first are in `items`. */
      readonly count: number;
      /** The page with all. */
      readonly url: string;
    }
  | { readonly kind: "test"; readonly channel: string; readonly url: string }
);

/** How many events a digest spells out; the page shows all. */
export const maxDigestItems = 20;

const maxTitle = 200;

/** A message's headline, lines and link, of which the presets are made. */
export function outlineOf(message: AlertMessage): AlertContent {
  const { organization } = message;
  if (message.kind === "alert") return message.content;
  if (message.kind === "test")
    return {
      title: oneLine(`Test of the channel ${message.channel}`, maxTitle),
      text: oneLine(`Alerts of ${organization.name} will arrive here.`, maxTitle),
      facts: [],
      url: message.url,
      tone: "ok",
    };
  const hidden = message.count - message.items.length;
  return {
    title: oneLine(`${message.count} alerts of ${organization.name}`, maxTitle),
    text: hidden === 0 ? "They came together, or in quiet hours." : `${hidden} more are on the page.`,
    facts: [],
    url: message.url,
    tone: message.items.some(({ content }) => content.tone === "bad") ? "bad" : "ok",
  };
}

/** The body of a webhook in JSON. The same for the same message, so that each attempt sends the same bytes. Pure. */
export function webhookBody(format: Exclude<ChannelFormat, "mail">, message: AlertMessage): string {
  return JSON.stringify(bodies[format](message));
}

const bodies = { standard, slack, discord, teams: microsoftTeams };

const itemsOf = (message: AlertMessage) => (message.kind === "digest" ? message.items : []);

/** As Standard Webhooks recommends: `type`, `timestamp`, `data`. */
function standard(message: AlertMessage) {
  const { kind, at, organization } = message;
  const dataOf = ({ event, content }: { readonly event: AlertEvent; readonly content: AlertContent }) => {
    const { facts: _, tone: __, ...texts } = content;
    return { ...texts, server: content.facts[0]?.value, event };
  };
  const data =
    message.kind === "alert"
      ? dataOf(message)
      : message.kind === "digest"
        ? { ...pick(outlineOf(message)), count: message.count, alerts: message.items.map(dataOf) }
        : pick(outlineOf(message));
  return {
    type: message.kind === "alert" ? message.event.kind : kind,
    timestamp: at.toISOString(),
    data: { organization: organization.slug, ...data },
  };
}

const pick = ({ title, text, url }: AlertContent) => ({ title, text, url });

/** Slack refuses a message with a longer one. */
const maxSlackText = 3000;
const slackEscapes: Readonly<Record<string, string>> = {
  // https://api.slack.com/reference/surfaces/formatting#escaping
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  // Mattermost takes [a](b) and ![a](b) for a link and an image; a word joiner prevents that.
  "[": "[\u2060",
  "]": "]\u2060",
};

/** Incoming webhooks of Slack, and of what takes the same, such as Mattermost. */
function slack(message: AlertMessage) {
  const { title, text, facts, url } = outlineOf(message);
  // Mattermost calls everybody for @channel.
  const safe = (each: string, max = maxSlackText) => escapedWithin(inert(each), slackEscapes, max);
  // A pipe or line break would end the label of a link.
  const link = (to: string, label: string) => `<${to}|${safe(label.replaceAll("|", "¦"), maxSlackText / 3)}>`;
  // Verbatim: names of people and channels, and addresses, stay text.
  const markdown = (line: string) => ({ type: "mrkdwn", text: line, verbatim: true });
  const section = (line: string) => ({ type: "section", text: markdown(line) });
  const head = `*${link(url, title)}*\n`;
  return {
    text: safe(title),
    blocks: [
      section(`${head}${safe(text, maxSlackText - head.length)}`),
      ...itemsOf(message).map(({ content }) => section(`• ${link(content.url, content.title)}`)),
      ...(facts.length === 0
        ? []
        : [{ type: "context", elements: facts.map(({ name, value }) => markdown(`${name}: ${safe(value)}`)) }]),
    ],
  };
}

/** Replaces characters by their escapes; shortened so that the result has at most `max` characters. */
function escapedWithin(text: string, escapes: Readonly<Record<string, string>>, max: number): string {
  let escaped = "";
  for (const character of text) {
    const next = escapes[character] ?? character;
    if (escaped.length + next.length > max - 1) return `${escaped}…`;
    escaped += next;
  }
  return escaped;
}

/** As many of the lines as have at most `max` characters together: part of one could be a broken link. */
function linesWithin(lines: readonly string[], max: number): string {
  let left = max;
  const fitting = lines.filter((line) => {
    left -= line.length + 1;
    return left >= 0;
  });
  return fitting.join("\n");
}

const colors = { bad: 0xd4_37_2c, ok: 0x2a_8a_4a } as const;

function discord(message: AlertMessage) {
  const { title, text, facts, url, tone } = outlineOf(message);
  // Markdown, in which texts of strangers must not make links.
  const safe = (each: string) => each.replace(/[\\*_~`|>[\]()#@:<-]/g, "\\$&");
  const lines = itemsOf(message).map(({ content }) => `• [${safe(content.title)}](${content.url})`);
  return {
    content: safe(title),
    embeds: [
      {
        title: title.slice(0, 256),
        url,
        description: linesWithin([safe(text), ...lines], 4000),
        color: colors[tone],
        fields: facts.map(({ name, value }) => ({ name, value: safe(value).slice(0, 1000), inline: true })),
        timestamp: message.at.toISOString(),
      },
    ],
    // A title that contains @everyone calls nobody.
    allowed_mentions: { parse: [] },
  };
}

/** An adaptive card, as workflows of Microsoft Teams take it. */
function microsoftTeams(message: AlertMessage) {
  const { title, text, facts, url, tone } = outlineOf(message);
  const safe = (each: string) => each.replace(/[\\*_[\]()#`<>-]/g, "\\$&");
  const block = (line: string, more: object = {}) => ({ type: "TextBlock", text: line, wrap: true, ...more });
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      block(safe(title), { weight: "Bolder", size: "Medium", color: tone === "bad" ? "Attention" : "Good" }),
      block(safe(text)),
      ...itemsOf(message).map((item) => block(`- [${safe(item.content.title)}](${item.content.url})`)),
      ...(facts.length === 0
        ? []
        : [{ type: "FactSet", facts: facts.map(({ name, value }) => ({ title: name, value: safe(value) })) }]),
    ],
    actions: [{ type: "Action.OpenUrl", title: "Open in Towpath", url }],
  };
  return {
    type: "message",
    attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content }],
  };
}
