import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type AlertContent, contentOf } from "./alert.content.ts";
import { alertMail } from "./alert-mail.ts";
import type { AlertEvent } from "./raise-alert.ts";
import { newSigningSecret, signedHeaders } from "./sign-webhook.ts";
import { type AlertMessage, webhookBody } from "./webhook-body.ts";

const at = new Date("2026-11-27T09:30:00Z");
const organization = { slug: "acme", name: "Acme" };
const place = {
  dashboardUrl: "https://towpath.example",
  orgSlug: "acme",
  projectPath: "weather-one",
  projectName: "weather-one",
};
const event: AlertEvent = {
  kind: "error.new",
  projectId: "p",
  groupId: "g",
  title: "KeyError: 'celsius' <b>*x*</b>",
  tool: "get_forecast",
  count: 3,
  deploymentId: null,
};
const alert: AlertMessage = { kind: "alert", at, organization, event, content: contentOf(event, place) };
const url = "https://towpath.example/acme/weather-one/errors/g";
const bodyOf = (format: Parameters<typeof webhookBody>[0], message: AlertMessage = alert) =>
  JSON.parse(webhookBody(format, message));

test("CAP-6 the signature of the specification's example is the one that it gives", () => {
  const headers = signedHeaders(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    body: '{"test": 2432232314}',
    at: new Date(1614265330 * 1000),
  });
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("CAP-6 the documented Python accepts a message signed with the old or the new secret, and no other", async () => {
  const pages = new URL("../../../../../apps/web/src/features/site/docs/pages/alerts.md", import.meta.url);
  const [, code = ""] = /```python\n([\s\S]+?)```/.exec(await readFile(pages, "utf8")) ?? [];
  const ask = `
import json, sys
secret, headers, body = json.loads(sys.argv[1])
print(is_genuine(secret, headers, body.encode()))`;
  const accepts = async (secret: string, headers: object, body: string) => {
    const run = promisify(execFile)("python3", ["-c", code + ask, JSON.stringify([secret, headers, body])]);
    return (await run).stdout.trim() === "True";
  };
  const body = webhookBody("standard", alert);
  const [current, previous] = [newSigningSecret(), newSigningSecret()];
  const headers = signedHeaders([current, previous], { id: "m", body, at: new Date() });
  expect(await accepts(current, headers, body)).toBe(true);
  expect(await accepts(previous, headers, body)).toBe(true);
  expect(await accepts(newSigningSecret(), headers, body)).toBe(false);
  expect(await accepts(current, headers, body.replace("weather", "winter"))).toBe(false);
  expect(await accepts(current, { ...headers, "webhook-id": "n" }, body)).toBe(false);
  const old = signedHeaders([current], { id: "m", body, at: new Date(Date.now() - 400_000) });
  expect(await accepts(current, old, body)).toBe(false);
});

test("CAP-6 a signed webhook names type, time and event, and its bytes are the same at each attempt", () => {
  expect(bodyOf("standard")).toEqual({
    type: "error.new",
    timestamp: "2026-11-27T09:30:00.000Z",
    data: {
      organization: "acme",
      title: "New error in weather-one: KeyError: 'celsius' <b>*x*</b>",
      text: "Calls of get_forecast have failed with it 3 times.",
      url,
      server: "weather-one",
      event,
    },
  });
  expect(webhookBody("standard", alert)).toBe(webhookBody("standard", { ...alert, content: { ...alert.content } }));
});

test("CAP-6 Slack gets text and blocks, in which a title of strangers makes no link and no mark-up", () => {
  const title = "New error in weather-one: KeyError: 'celsius' &lt;b&gt;*x*&lt;/b&gt;";
  expect(bodyOf("slack")).toEqual({
    text: title,
    blocks: [
      {
        type: "section",
        text: {
          type: "mrkdwn",
          text: `*<${url}|${title}>*\nCalls of get_forecast have failed with it 3 times.`,
          verbatim: true,
        },
      },
      {
        type: "context",
        elements: [
          { type: "mrkdwn", text: "Server: weather-one", verbatim: true },
          { type: "mrkdwn", text: "Tool: get_forecast", verbatim: true },
        ],
      },
    ],
  });
});

test("CAP-6 in Slack and Mattermost a title calls nobody, and neither links nor loads images", () => {
  const hostile = {
    ...event,
    title: "<!channel> @channel @all [x](https://evil.example) ![y](https://evil.example/z.png)",
  };
  const text = webhookBody("slack", { ...alert, event: hostile, content: contentOf(hostile, place) });
  expect(text).not.toMatch(/<!|@[a-z]|\]\(/);
});

test("CAP-6 in an email a title of strangers is no address that mail programs open", () => {
  const hostile = {
    ...event,
    title: "see https://evil.example or www.evil.example, ask me@evil.example",
    tool: "ftp://x",
  };
  const message = { ...alert, event: hostile, content: contentOf(hostile, place) };
  const page = "https://towpath.example/acme/settings/alerts";
  const digest: AlertMessage = { kind: "digest", at, organization, items: [message], count: 1, url: page };
  const to = { to: "ada@example.com", channel: "On call", sender: null };
  const texts = [message, digest].flatMap((each) => alertMail(each, to).paragraphs).join("\n");
  expect(texts.replaceAll(url, "")).not.toMatch(/:\/\/\w|www\.\w|@\w/);
  expect(texts).toContain(url);
});

test("CAP-6 the longest texts of strangers stay within what each service takes", () => {
  const hostile = "&<>_*[]@".repeat(200);
  const longest: AlertEvent = { ...event, title: hostile, tool: hostile };
  const item = { event: longest, content: contentOf(longest, { ...place, projectName: "x".repeat(60) }) };
  const url = "https://towpath.example/acme/settings/alerts";
  const digest: AlertMessage = { kind: "digest", at, organization, items: Array(20).fill(item), count: 20, url };
  for (const message of [{ kind: "alert", at, organization, ...item } as const, digest]) {
    const { blocks } = bodyOf("slack", message);
    expect(blocks.length).toBeLessThanOrEqual(50);
    for (const block of blocks) {
      if (block.type === "section") expect(block.text.text.length).toBeLessThanOrEqual(3000);
      else for (const { text } of block.elements) expect(text.length).toBeLessThanOrEqual(3000);
    }
    const { content, embeds } = bodyOf("discord", message);
    expect(content.length).toBeLessThanOrEqual(2000);
    const { title, description, fields } = embeds[0];
    const named = fields.flatMap(({ name, value }: { name: string; value: string }) => [name, value]);
    expect([title, description, ...named].join("").length).toBeLessThanOrEqual(6000);
    expect(description.length).toBeLessThanOrEqual(4096);
    // No link is cut.
    for (const line of description.split("\n").slice(1)) expect(line).toMatch(/\]\(https:[^ ]+\)$/);
    expect(webhookBody("teams", message).length).toBeLessThanOrEqual(28_000);
  }
});

test("CAP-6 names of channels and organizations are one line too", () => {
  const named: AlertMessage = {
    kind: "test",
    at,
    organization: { slug: "acme", name: "A\nB" },
    channel: "On\r\n# call",
    url,
  };
  expect(bodyOf("slack", named).text).toBe("Test of the channel On # call");
  expect(bodyOf("teams", named).attachments[0].content.body[1].text).toBe("Alerts of A B will arrive here.");
});

test("CAP-6 Discord gets content and an embed, and a title calls nobody", () => {
  const everyone = { ...event, title: "@everyone [x](https://evil.example)" };
  const body = bodyOf("discord", { ...alert, event: everyone, content: contentOf(everyone, place) });
  expect(body).toMatchObject({
    content: expect.stringContaining("\\@everyone \\[x\\]\\(https\\://evil.example\\)"),
    allowed_mentions: { parse: [] },
    embeds: [
      {
        url,
        description: "Calls of get\\_forecast have failed with it 3 times.",
        fields: [
          { name: "Server", value: "weather\\-one", inline: true },
          { name: "Tool", value: "get\\_forecast", inline: true },
        ],
        timestamp: "2026-11-27T09:30:00.000Z",
      },
    ],
  });
});

test("CAP-6 Microsoft Teams gets an adaptive card as an attachment of a message", () => {
  const { type, attachments } = bodyOf("teams");
  expect(type).toBe("message");
  expect(attachments).toHaveLength(1);
  expect(attachments[0].contentType).toBe("application/vnd.microsoft.card.adaptive");
  expect(attachments[0].content).toMatchObject({
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      { type: "TextBlock", color: "Attention", wrap: true },
      { type: "TextBlock", text: "Calls of get\\_forecast have failed with it 3 times." },
      { type: "FactSet", facts: [{ title: "Server" }, { title: "Tool", value: "get\\_forecast" }] },
    ],
    actions: [{ type: "Action.OpenUrl", url }],
  });
});

test("CAP-6 a digest lists its events and counts the rest, in every format", () => {
  const items = [{ event, content: alert.content }];
  const page = "https://towpath.example/acme/settings/alerts";
  const digest: AlertMessage = { kind: "digest", at, organization, items, count: 30, url: page };
  expect(bodyOf("standard", digest)).toMatchObject({
    type: "digest",
    data: { title: "30 alerts of Acme", text: "29 more are on the page.", count: 30, alerts: [{ event }] },
  });
  expect(bodyOf("slack", digest).blocks[1].text.text).toContain(`• <${url}|New error in weather-one`);
  expect(bodyOf("discord", digest).embeds[0].description).toContain(`](${url})`);
  expect(bodyOf("teams", digest).attachments[0].content.body[2].text).toContain(`](${url})`);
});

const failed = {
  projectId: "p",
  buildId: "b",
  branch: "main",
  built: "1a2b3c4",
  title: "No module named x",
  remedy: "Add x.",
};
const since = "2026-11-27T08:00:00.000Z";
test.each<[AlertEvent, Partial<AlertContent> & { page: string }]>([
  [
    { ...event, kind: "error.back", count: 1, tool: null },
    { text: "It has occurred once.", page: "/errors/g" },
  ],
  [
    { ...event, kind: "error.rate", count: 1200 },
    { text: "Calls of get_forecast have failed with it 1,200 times in an hour.", page: "/errors/g" },
  ],
  [
    { ...failed, kind: "deployment.failed" },
    {
      title: "Deployment of weather-one failed: No module named x",
      text: "Add x. What is live is not affected.",
      page: "/build-logs/b",
    },
  ],
  [
    { ...failed, kind: "preview.failed" },
    { title: "Preview of weather-one failed: No module named x", page: "/build-logs/b" },
  ],
  [
    { kind: "server.no-place", projectId: "p", reason: "All 9 places are in use." },
    { text: "All 9 places are in use.", page: "/logs" },
  ],
  [
    { kind: "sign-in.loop", projectId: "p", client: "Friendly app", key: "k", starts: 7, minutes: 30, problem: null },
    { title: "Friendly app can't sign in to weather-one", page: "/sign-ins" },
  ],
  [
    { kind: "latency.band", projectId: "p", since, p95Ms: 2345, maxMs: 900, usualMs: 300, calls: 80 },
    { title: "Calls of weather-one are slow: 95 % took up to 2.3 s", tone: "bad", page: "" },
  ],
  [
    { kind: "latency.normal", projectId: "p", since, p95Ms: 250, maxMs: 900 },
    {
      title: "Calls of weather-one are back to normal",
      text: "95 % of the last 15 minutes took up to 250 ms.",
      tone: "ok",
      page: "",
    },
  ],
])("CAP-6 an alert says what happened and leads to the cause: %j", (each, { page, ...expected }) => {
  const content = contentOf(each, place);
  expect(content).toMatchObject({ ...expected, url: `https://towpath.example/acme/weather-one${page}` });
});

test("CAP-6 long and many-line texts become one short line", () => {
  const content = contentOf({ ...event, title: `a\n${"b".repeat(500)}` }, place);
  expect(content.title).toHaveLength(200);
  expect(content.title).toMatch(/^New error in weather-one: a b+…$/);
});
