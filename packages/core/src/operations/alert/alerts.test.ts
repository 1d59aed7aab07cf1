import { alertChannel, alertDelivery, alertEvent, auditLog, user } from "@towpath/db/schema";
import { createSecretBox } from "@towpath/secrets";
import { asc, eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { FullContext } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import type { Mail, WebhookAnswer } from "../../ports/index.ts";
import { refusalCode } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import type { CreateChannelInput } from "./alert.schema.ts";
import {
  type AlertEvent,
  claimAlert,
  createAlertChannel,
  deliverAlert,
  expandAlerts,
  listAlertChannels,
  listAlertDeliveries,
  raiseAlert,
  releaseHeldAlerts,
  testAlertChannel,
  updateAlertChannel,
} from "./index.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Of the worker; tests move it. */
let now: Date;
let answer: WebhookAnswer;
const posted: { readonly id: string; readonly body: { type: string; data: { title: string; count?: number } } }[] = [];
const mails: Mail[] = [];
const answered = (status: number, retryAfterSeconds: number | null = null): WebhookAnswer => ({
  kind: "answered",
  status,
  text: "",
  retryAfterSeconds,
});

const suite = openProjectSuite({
  secrets: createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] }),
  clock: { now: () => now },
  webhooks: {
    problemOf: () => null,
    post: async ({ headers, body }) => {
      posted.push({ id: headers["webhook-id"] ?? "", body: JSON.parse(body) });
      return answer;
    },
  },
  mail: { send: async (mail) => ({ id: String(mails.push(mail)) && newId() }) },
});
beforeEach(async () => {
  // A worker serves all organizations: what earlier tests left must not be sent.
  await suite.database.db.delete(alertChannel);
  now = new Date("2026-11-27T12:00:00Z");
  answer = answered(200);
  posted.length = 0;
  mails.length = 0;
});

const worker = () => suite.as({ kind: "job", job: "alerts" });
const at = () => ({ orgSlug: suite.organization.slug });
const later = (ms: number) => {
  now = new Date(now.getTime() + ms);
};

async function addChannel(change: Partial<CreateChannelInput> = {}): Promise<string> {
  const input = { name: "A", format: "standard", url: "https://a.test/", events: ["error.new"], ...at(), ...change };
  const { channel } = await createAlertChannel({
    ctx: suite.as(suite.organization.owner),
    input: input as CreateChannelInput & { orgSlug: string },
  });
  return channel.id;
}

const newError = (change: Partial<Extract<AlertEvent, { readonly groupId: string }>> = {}): AlertEvent => ({
  kind: "error.new",
  projectId: suite.project.id,
  groupId: newId(),
  title: "KeyError",
  tool: "forecast",
  count: 1,
  deploymentId: null,
  ...change,
});
const raise = (event: AlertEvent = newError()) => suite.database.db.transaction((tx) => raiseAlert(tx, event, now));

const nextOf = (ctx: FullContext, withFailing = true) => claimAlert({ ctx, input: { withFailing } });

/** What a worker's rounds do until nothing is due. */
async function work(): Promise<string[]> {
  const ctx = worker();
  await expandAlerts({ ctx });
  await releaseHeldAlerts({ ctx });
  const outcomes: string[] = [];
  for (let claim = await nextOf(ctx); claim; claim = await nextOf(ctx))
    outcomes.push(await deliverAlert({ ctx, input: claim }));
  return outcomes;
}
const deliveries = () => listAlertDeliveries({ ctx: worker(), input: at() });

test("CAP-6 an event exists with its transaction only, and each channel that chose it gets one message", async () => {
  await addChannel();
  await addChannel({ name: "B", projectIds: [suite.project.id] });
  await addChannel({ name: "Others", events: ["error.back"] });
  const failing = suite.database.db.transaction(async (tx) => {
    await raiseAlert(tx, newError());
    throw new Error("rolled back");
  });
  await expect(failing).rejects.toThrow("rolled back");
  expect(await work()).toEqual([]);
  const event = newError();
  const again = { ...event, count: 2 } as AlertEvent;
  expect(await Promise.all([raise(event), raise(again), raise(again)])).toEqual(
    expect.arrayContaining([true, false, false]),
  );
  expect(await work()).toEqual(["sent", "sent"]);
  expect(await raise(event)).toBe(false);
  expect(await work()).toEqual([]);
  expect(new Set(posted.map(({ id }) => id)).size).toBe(2);
  expect(await deliveries()).toMatchObject([{ status: "sent" }, { status: "sent" }]);
});

test("CAP-6 workers that expand and send at the same time double nothing", async () => {
  await addChannel();
  await addChannel({ name: "B" });
  for (let count = 0; count < 15; count++) await raise();
  await Promise.all([work(), work(), work(), work()]);
  while ((await work()).length > 0);
  expect(posted).toHaveLength(30);
  expect(new Set(posted.map(({ id }) => id)).size).toBe(30);
});

test.each<[string, () => AlertEvent, number]>([
  ["a rate", () => newError({ kind: "error.rate", groupId: suite.project.id }), hourMs],
  ["a full host", () => ({ kind: "server.no-place", projectId: suite.project.id, reason: "Full." }), hourMs],
  [
    "a loop",
    () => ({
      kind: "sign-in.loop",
      projectId: suite.project.id,
      client: "A%_\\",
      key: "a%_\\",
      starts: 5,
      minutes: 30,
      problem: null,
    }),
    24 * hourMs,
  ],
])("CAP-6 a state without a known end is one event for a while: %s", async (_, make, pauseMs) => {
  expect(await Promise.all([raise(make()), raise(make())])).toEqual(expect.arrayContaining([true, false]));
  later(pauseMs - minuteMs);
  expect(await raise(make())).toBe(false);
  later(2 * minuteMs);
  expect(await raise(make())).toBe(true);
});

test("CAP-6 an error that is back is one event each time", async () => {
  const event = newError({ kind: "error.back", count: 7 });
  expect([await raise(event), await raise(event), await raise({ ...event, count: 9 } as AlertEvent)]).toEqual([
    true,
    false,
    true,
  ]);
});

test("CAP-6 in quiet hours messages are held, and arrive at their end as one digest", async () => {
  await addChannel({ quietHours: { from: 11 * 60, to: 14 * 60, timeZone: "UTC" } });
  for (let count = 0; count < 25; count++) await raise();
  expect(await work()).toEqual([]);
  expect(await deliveries()).toHaveLength(25);
  expect((await deliveries())[0]).toMatchObject({ status: "held", dueAt: "2026-11-27T14:00:00.000Z" });
  later(2 * hourMs - 1);
  expect(await work()).toEqual([]);
  later(1);
  expect(await work()).toEqual(["sent"]);
  expect(posted[0]?.body).toMatchObject({ type: "digest", data: { count: 25 } });
  expect(await deliveries()).toMatchObject([
    { title: "Digest", status: "sent", url: null },
    ...Array(25).fill({ status: "digested", url: expect.stringContaining("/errors/") }),
  ]);
  // One alone needs no digest.
  later(22 * hourMs);
  await raise();
  await work();
  later(2 * hourMs);
  await work();
  expect(posted[1]?.body.type).toBe("error.new");
});

test("CAP-6 quiet hours that are removed release what they held, longer ones hold it on", async () => {
  const channelId = await addChannel({ quietHours: { from: 11 * 60, to: 14 * 60, timeZone: "UTC" } });
  const change = (quietHours: CreateChannelInput["quietHours"]) =>
    updateAlertChannel({
      ctx: suite.as(suite.organization.owner),
      input: { ...at(), channelId, quietHours: quietHours ?? null },
    });
  await raise();
  await work();
  await change({ from: 11 * 60, to: 16 * 60, timeZone: "UTC" });
  expect(await work()).toEqual([]);
  expect((await deliveries())[0]?.dueAt).toBe("2026-11-27T16:00:00.000Z");
  await change(null);
  expect(await work()).toEqual(["sent"]);
});

test.runIf(isThorough)("CAP-6 of a flood twenty messages are sent, and the rest as one digest", async () => {
  await addChannel();
  for (let count = 0; count < 200; count++) await raise();
  while ((await expandAlerts({ ctx: worker() })) > 0);
  expect(await work()).toHaveLength(20);
  later(10 * minuteMs);
  expect(await work()).toEqual(["sent"]);
  expect(posted.at(-1)?.body.data.count).toBe(180);
  // In pages, though many are of the same time.
  const seen = new Set<string>();
  for (let page = await deliveries(); page.length > 0; ) {
    for (const { id } of page) seen.add(id);
    page = await listAlertDeliveries({ ctx: worker(), input: { ...at(), before: page.at(-1)?.id } });
  }
  expect(seen.size).toBe(201);
});

test("CAP-6 whoever tests a channel again and again holds up no alert", async () => {
  const channelId = await addChannel();
  const input = { ...at(), channelId };
  for (let count = 0; count < 25; count++) await testAlertChannel({ ctx: suite.as(suite.organization.owner), input });
  await raise();
  expect(await work()).toEqual(["sent"]);
});

test("CAP-6 a failed message is tried again with growing pauses and the same id, for less than a day", async () => {
  await addChannel();
  answer = answered(500);
  await raise();
  const begun = now.getTime();
  const times: number[] = [];
  for (let outcome = ""; outcome !== "failed"; ) {
    [outcome = ""] = await work();
    times.push(now.getTime() - begun);
    const [waiting] = await suite.database.db.select().from(alertDelivery);
    const [channel] = await suite.database.db.select().from(alertChannel);
    const due = Math.max(waiting?.dueAt.getTime() ?? 0, channel?.nextAttemptAt.getTime() ?? 0);
    later(Math.max(0, due - now.getTime()) - 1);
    if (outcome === "retried") expect(await work()).toEqual([]);
    later(1);
  }
  expect(times.length).toBe(11);
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
  expect(times.at(-1)).toBeGreaterThan(20 * hourMs);
  expect(times.at(-1)).toBeLessThan(24 * hourMs);
  expect(new Set(posted.map(({ id }) => id)).size).toBe(1);
  expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 11, lastStatus: 500 }]);
  const [channel] = await listAlertChannels({ ctx: worker(), input: at() });
  expect(channel?.state).toBe("failing");
});

test("CAP-6 while a channel fails, its messages wait for it; other channels go on; Retry-After is kept to", async () => {
  await addChannel();
  answer = answered(429, 600);
  for (let count = 0; count < 5; count++) await raise();
  expect(await work()).toEqual(["retried"]);
  later(600 * secondMs);
  expect(await nextOf(worker(), false)).toBeNull();
  later(-600 * secondMs);
  await addChannel({ name: "B" });
  await raise();
  answer = answered(200);
  later(590 * secondMs);
  expect(await work()).toEqual(["sent"]);
  later(20 * secondMs);
  expect(await work()).toHaveLength(6);
});

test("CAP-6 410 switches the channel off, with what waits for it, until somebody switches it on", async () => {
  const channelId = await addChannel();
  answer = answered(410);
  await raise();
  await raise();
  expect(await work()).toEqual(["gone"]);
  expect(await deliveries()).toMatchObject([{ status: "failed" }, { status: "failed" }]);
  expect(await listAlertChannels({ ctx: worker(), input: at() })).toMatchObject([{ state: "gone" }]);
  const action = await suite.database.db.select().from(auditLog).where(eq(auditLog.action, "alertChannel.gone"));
  expect(action).toMatchObject([{ subject: channelId, actor: "job:alerts" }]);
  answer = answered(200);
  await raise();
  expect(await work()).toEqual([]);
  const ctx = suite.as(suite.organization.owner);
  await updateAlertChannel({ ctx, input: { ...at(), channelId, enabled: true } });
  await raise();
  expect(await work()).toEqual(["sent"]);
});

test("CAP-6 a channel has one message under way; that of a killed worker is sent again later, with the same id", async () => {
  await addChannel();
  await raise();
  await raise();
  const ctx = worker();
  await expandAlerts({ ctx });
  const lost = await nextOf(ctx);
  expect(await nextOf(ctx)).toBeNull();
  later(24 * secondMs);
  expect(await nextOf(ctx)).toBeNull();
  later(secondMs);
  expect(await work()).toEqual(["sent", "sent"]);
  expect(posted.map(({ id }) => id)).toContain(lost?.delivery.id);
  // It was only slow: what it says now about a message that was sent changes nothing.
  answer = answered(500);
  if (lost) expect(await deliverAlert({ ctx, input: lost })).toBe("retried");
  expect(await deliveries()).toMatchObject([{ status: "sent" }, { status: "sent" }]);
});

test("CAP-6 email goes to the recipients who are still members, six an hour, and then together", async () => {
  const [one, gone] = [await suite.organization.join("member"), await suite.organization.join("member")];
  const ids = [one, gone].map((actor) => (actor.kind === "user" ? actor.userId : ""));
  await addChannel({ format: "mail", url: undefined, userIds: ids });
  await suite.database.db.delete(user).where(eq(user.id, ids[1] ?? ""));
  for (let count = 0; count < 9; count++) await raise();
  expect(await work()).toHaveLength(6);
  expect(mails.map(({ to, purpose, sender }) => [to, purpose, sender])).toEqual(
    Array(6).fill([`${ids[0]}@example.com`, "alert", null]),
  );
  later(hourMs);
  expect(await work()).toEqual(["sent"]);
  expect(mails.at(-1)?.subject).toMatch(/^3 alerts of /);
});

test("CAP-6 only workers expand and send; a server's events go with it", async () => {
  const ctx = suite.as(suite.organization.owner);
  for (const verb of [expandAlerts, releaseHeldAlerts]) expect(await refusalCode(verb({ ctx }))).toBe("forbidden");
  expect(await refusalCode(nextOf(ctx))).toBe("forbidden");
  await raise();
  const mine = await suite.database.db
    .select()
    .from(alertEvent)
    .where(eq(alertEvent.projectId, suite.project.id))
    .orderBy(asc(alertEvent.id));
  expect(mine).toHaveLength(1);
});
