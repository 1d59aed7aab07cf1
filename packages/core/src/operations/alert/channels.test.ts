import { alertChannel, alertDelivery, auditLog } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { Actor, FullContext } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import type { Mail, WebhookAnswer } from "../../ports/index.ts";
import { openOrganization, refusal, refusalCode, seedProject, testContext } from "../../testing/index.ts";
import type { CreateChannelInput } from "./alert.schema.ts";
import {
  createAlertChannel,
  deleteAlertChannel,
  listAlertChannels,
  listAlertDeliveries,
  rotateAlertSecret,
  testAlertChannel,
  updateAlertChannel,
} from "./index.ts";
import { signedHeaders } from "./sign-webhook.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
const others = openOrganization(database);
const box = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });

type Posted = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** `answer`: of every receiver. `posted`: what they got. */
function as(actor: Actor, answer: WebhookAnswer = answered(200, "ok"), more: Partial<FullContext> = {}) {
  const posted: Posted[] = [];
  const ctx = testContext(database.db, actor, {
    secrets: box,
    webhooks: {
      problemOf: (url) => (url.startsWith("https://") ? null : "Enter an https address."),
      post: async (request) => {
        posted.push(request);
        return answer;
      },
    },
    ...more,
  });
  return { ctx, posted };
}
const answered = (status: number, text: string): WebhookAnswer => ({
  kind: "answered",
  status,
  text,
  retryAfterSeconds: null,
});

const slack = {
  name: "On call",
  format: "slack",
  url: "https://hooks.slack.test/services/T0/B0/secret",
  events: ["error.new", "deployment.failed"],
} satisfies CreateChannelInput;
const at = () => ({ orgSlug: organization.slug });
const create = (actor: Actor, change: Partial<CreateChannelInput> = {}, more: Partial<FullContext> = {}) =>
  createAlertChannel({ ctx: as(actor, undefined, more).ctx, input: { ...at(), ...slack, ...change } });
const rowOf = async (id: string) => (await database.db.select().from(alertChannel).where(eq(alertChannel.id, id)))[0];

test("CAP-6 an admin adds, changes, switches off and deletes a channel; each is in the audit log, its address nowhere", async () => {
  const admin = await organization.join("admin");
  const server = await seedProject(database.db, organization, { name: "calm-blue-heron" });
  const quietHours = { from: 1320, to: 420, timeZone: "Europe/Berlin" };
  const { channel, secret } = await create(admin, { projectIds: [server.id], quietHours });
  expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(channel).toMatchObject({
    name: "On call",
    format: "slack",
    host: "hooks.slack.test",
    recipients: null,
    events: ["error.new", "deployment.failed"],
    servers: [{ id: server.id, name: "calm-blue-heron" }],
    quietHours,
    state: "on",
  });
  const { ctx } = as(admin);
  const scope = { ...at(), channelId: channel.id };
  const change = { ...scope, name: "Nights", quietHours: null, projectIds: null, url: "https://chat.test/hook" };
  expect(await updateAlertChannel({ ctx, input: change })).toMatchObject({
    name: "Nights",
    quietHours: null,
    servers: null,
    host: "chat.test",
    events: channel.events,
  });
  expect(await updateAlertChannel({ ctx, input: { ...scope, enabled: false } })).toMatchObject({ state: "off" });
  expect(await updateAlertChannel({ ctx, input: { ...scope, enabled: true } })).toMatchObject({ state: "on" });
  const stored = JSON.stringify([await rowOf(channel.id), await listAlertChannels({ ctx, input: at() })]);
  await deleteAlertChannel({ ctx, input: scope });
  expect(await listAlertChannels({ ctx, input: at() })).toEqual([]);
  const audits = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.organizationId, organization.id))
    .orderBy(auditLog.id);
  expect(audits.map(({ action }) => action)).toEqual([
    "alertChannel.create",
    ...Array(3).fill("alertChannel.update"),
    "alertChannel.delete",
  ]);
  for (const part of ["B0/secret", "/hook", secret ?? "-"]) expect(stored + JSON.stringify(audits)).not.toContain(part);
});

test("CAP-6 members see channels, viewers don't, only admins change and test them; other organizations find none", async () => {
  const { channel } = await create(organization.owner);
  const [viewer, colleague] = [await organization.join("viewer"), await organization.join("member")];
  const scope = { ...at(), channelId: channel.id };
  expect(await listAlertChannels({ ctx: as(colleague).ctx, input: at() })).toHaveLength(1);
  expect(await listAlertDeliveries({ ctx: as(colleague).ctx, input: at() })).toEqual([]);
  expect(await refusalCode(listAlertChannels({ ctx: as(viewer).ctx, input: at() }))).toBe("forbidden");
  expect(await refusalCode(listAlertDeliveries({ ctx: as(viewer).ctx, input: at() }))).toBe("forbidden");
  for (const actor of [viewer, colleague]) {
    const { ctx, posted } = as(actor);
    expect(await refusalCode(create(actor))).toBe("forbidden");
    for (const verb of [updateAlertChannel, deleteAlertChannel, rotateAlertSecret, testAlertChannel])
      expect(await refusalCode(verb({ ctx, input: scope }))).toBe("forbidden");
    expect(posted).toEqual([]);
  }
  const { ctx } = as(others.owner);
  for (const verb of [updateAlertChannel, deleteAlertChannel, rotateAlertSecret, testAlertChannel])
    expect(await refusalCode(verb({ ctx, input: { orgSlug: others.slug, channelId: channel.id } }))).toBe("not_found");
});

test.each<[object, string]>([
  [{ name: " " }, "Name is required"],
  [{ events: [] }, "Choose at least one kind of event"],
  [{ events: ["error.none"] }, "Choose among error.new"],
  [{ url: undefined }, "Enter the webhook's address"],
  [{ url: "http://hooks.slack.test" }, "Enter an https address."],
  [{ format: "mail" }, "Choose at least one member"],
  [{ projectIds: [newId()] }, "One of the servers does not exist"],
  [{ quietHours: { from: 60, to: 60, timeZone: "UTC" } }, "must end at another time"],
  [{ quietHours: { from: 60, to: 1440, timeZone: "UTC" } }, "Enter a time of the day"],
  [{ quietHours: { from: 60, to: 90, timeZone: "Mars/Olympus" } }, "Enter a time zone"],
])("CAP-6 a channel with %j is refused: %s", async (change, reason) => {
  const { code, message, fields } = await refusal(create(organization.owner, change));
  expect(code).toBe("invalid_input");
  expect(`${message} ${JSON.stringify(fields)}`).toContain(reason);
});

test("CAP-6 email goes to members only, needs a mail server, and has neither address nor secret", async () => {
  const mails: Mail[] = [];
  const mail = { send: async (each: Mail) => ({ id: String(mails.push(each)) && newId() }) };
  const person = await organization.join("member");
  const userId = person.kind === "user" ? person.userId : "";
  const change = { format: "mail" as const, url: undefined, userIds: [userId] };
  expect(await refusalCode(create(organization.owner, change))).toBe("not_configured");
  const stranger = others.owner.kind === "user" ? others.owner.userId : "";
  const toStranger = create(organization.owner, { ...change, userIds: [stranger] }, { mail });
  expect(await refusal(toStranger)).toMatchObject({
    fields: { userIds: expect.stringContaining("no longer a member") },
  });
  const { channel, secret } = await create(organization.owner, change, { mail });
  expect([secret, channel.host, channel.recipients]).toEqual([null, null, [{ id: userId, name: "Ada" }]]);
  const { ctx } = as(organization.owner, undefined, { mail });
  const scope = { ...at(), channelId: channel.id };
  expect(await testAlertChannel({ ctx, input: scope })).toMatchObject({ status: "sent", kind: "test" });
  expect(mails).toMatchObject([
    {
      purpose: "alert",
      to: `${userId}@example.com`,
      sender: `user:${organization.owner.kind === "user" ? organization.owner.userId : ""}`,
      subject: "Test of the channel On call",
      action: { url: `https://towpath.example/${organization.slug}/settings/alerts` },
    },
  ]);
  expect(await refusal(rotateAlertSecret({ ctx, input: scope }))).toMatchObject({ code: "invalid_input" });
  const toAddress = updateAlertChannel({ ctx, input: { ...scope, url: "https://x.test" } });
  expect(await refusal(toAddress)).toMatchObject({ fields: { url: expect.stringContaining("has no address") } });
});

test("CAP-6 a test sends a real message and shows the answer, or what went wrong, also while the channel is off", async () => {
  const { channel } = await create(organization.owner, { format: "standard" });
  const scope = { ...at(), channelId: channel.id };
  const refused = as(organization.owner, answered(404, "no_service"));
  await updateAlertChannel({ ctx: refused.ctx, input: { ...scope, enabled: false } });
  expect(await testAlertChannel({ ctx: refused.ctx, input: scope })).toMatchObject({
    status: "failed",
    lastStatus: 404,
    lastAnswer: "no_service",
    title: "Test",
  });
  const message = "chat.test did not answer within 10 seconds.";
  const late = as(organization.owner, { kind: "problem", message });
  expect(await testAlertChannel({ ctx: late.ctx, input: scope })).toMatchObject({
    status: "failed",
    lastStatus: null,
    lastAnswer: message,
  });
  const { ctx, posted } = as(organization.owner);
  const sent = await testAlertChannel({ ctx, input: scope });
  expect(sent).toMatchObject({ status: "sent", lastStatus: 200, lastAnswer: "ok" });
  expect(posted).toMatchObject([{ url: slack.url, headers: { "webhook-id": sent.id } }]);
  expect(JSON.parse(posted[0]?.body ?? "")).toMatchObject({ type: "test", data: { organization: organization.slug } });
  expect(await listAlertDeliveries({ ctx, input: { ...at(), limit: 2 } })).toMatchObject([{ id: sent.id }, {}]);
});

test("CAP-6 a new secret signs beside the earlier one for a day, and then alone", async () => {
  const { channel, secret } = await create(organization.owner, { format: "standard" });
  const scope = { ...at(), channelId: channel.id };
  const { secret: next } = await rotateAlertSecret({ ctx: as(organization.owner).ctx, input: scope });
  expect(next).not.toBe(secret);
  const signatures = async (later: number) => {
    const clock = { now: () => new Date(Date.now() + later) };
    const { ctx, posted } = as(organization.owner, undefined, { clock });
    await testAlertChannel({ ctx, input: scope });
    return posted[0]?.headers["webhook-signature"]?.split(" ") ?? [];
  };
  expect(await signatures(23 * 3_600_000)).toHaveLength(2);
  expect(await signatures(25 * 3_600_000)).toHaveLength(1);
});

test("CAP-6 a new address and a new secret at the same time both last", async () => {
  const { channel } = await create(organization.owner, { format: "standard" });
  const scope = { ...at(), channelId: channel.id };
  for (let round = 0; round < 5; round++) {
    const url = `https://alerts.test/${round}`;
    const [{ secret }] = await Promise.all([
      rotateAlertSecret({ ctx: as(organization.owner).ctx, input: scope }),
      updateAlertChannel({ ctx: as(organization.owner).ctx, input: { ...scope, url } }),
    ]);
    const { ctx, posted } = as(organization.owner);
    await testAlertChannel({ ctx, input: scope });
    const [{ url: address = "", headers = {}, body = "" } = {}] = posted;
    const message = {
      id: headers["webhook-id"] ?? "",
      body,
      at: new Date(Number(headers["webhook-timestamp"]) * 1000),
    };
    const signed = signedHeaders([secret ?? ""], message)["webhook-signature"];
    expect([address, headers["webhook-signature"]?.split(" ")[0]]).toEqual([url, signed && signed]);
  }
});

test("CAP-6 the answer of a receiver that quotes its address shows none of it", async () => {
  const { channel } = await create(organization.owner);
  const quoting = as(organization.owner, answered(404, "Cannot POST /services/T0/B0/secret"));
  const view = await testAlertChannel({ ctx: quoting.ctx, input: { ...at(), channelId: channel.id } });
  expect(view.lastAnswer).toBe("Cannot POST …");
});

test.runIf(isThorough)(
  "CAP-6 an organization has a bounded number of channels, and a deleted one takes its deliveries along",
  async () => {
    const first = await create(organization.owner);
    await testAlertChannel({ ctx: as(organization.owner).ctx, input: { ...at(), channelId: first.channel.id } });
    // Several at once don't exceed it together.
    const others = await Promise.allSettled(Array.from({ length: 33 }, () => create(organization.owner)));
    expect(others.filter(({ status }) => status === "fulfilled")).toHaveLength(29);
    expect(await refusal(create(organization.owner))).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("at most 30"),
    });
    await deleteAlertChannel({ ctx: as(organization.owner).ctx, input: { ...at(), channelId: first.channel.id } });
    expect(await database.db.$count(alertDelivery, eq(alertDelivery.channelId, first.channel.id))).toBe(0);
  },
);
