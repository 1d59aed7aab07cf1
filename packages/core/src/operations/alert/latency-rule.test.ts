import { alertEvent, alertRule, auditLog } from "@towpath/db/schema";
import { createSecretBox } from "@towpath/secrets";
import { asc, eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { refusal, refusalCode, seedProject } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import type { LatencyRule } from "./alert.schema.ts";
import { createAlertChannel, getLatencyRule, listWatchedProjects, recordLatency, saveLatencyRule } from "./index.ts";

let now: Date;
const suite = openProjectSuite({
  clock: { now: () => now },
  secrets: createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] }),
  webhooks: { problemOf: () => null, post: () => Promise.reject(new Error("nothing is posted here")) },
});
beforeEach(() => {
  now = new Date("2026-11-27T12:00:00Z");
});

const worker = () => suite.as({ kind: "job", job: "alerts" });
const usual = { calls: 10_000, p95Ms: 200 };
const record = (p95Ms: number | null, calls = 100, before = usual as { calls: number; p95Ms: number | null }) =>
  recordLatency({ ctx: worker(), input: { projectId: suite.project.id, now: { calls, p95Ms }, before } });
const save = (rule: LatencyRule) =>
  saveLatencyRule({ ctx: suite.as(suite.organization.owner), input: { ...suite.at(), ...rule } });
const events = async () =>
  (
    await suite.database.db
      .select()
      .from(alertEvent)
      .where(eq(alertEvent.projectId, suite.project.id))
      .orderBy(asc(alertEvent.id))
  ).map(({ detail }) => detail);

test("CAP-6 calls that become three times slower than in the week before are one event, and their end another", async () => {
  expect(await record(590)).toBeNull();
  expect(await record(610)).toBe("slow");
  const since = now.toISOString();
  now = new Date(now.getTime() + 60_000);
  expect(await record(900)).toBeNull();
  expect(await record(580)).toBeNull();
  expect(await record(300)).toBe("normal");
  expect(await record(300)).toBeNull();
  now = new Date(now.getTime() + 60_000);
  expect(await record(700)).toBe("slow");
  expect(await events()).toMatchObject([
    { kind: "latency.band", since, p95Ms: 610, maxMs: 600, usualMs: 200, calls: 100 },
    { kind: "latency.normal", since, p95Ms: 300, maxMs: 600 },
    { kind: "latency.band", since: now.toISOString() },
  ]);
});

test.each<[string, LatencyRule | null, Parameters<typeof record>, "slow" | null]>([
  ["too few calls", null, [5000, 49], null],
  ["fast calls that became three times slower", null, [90, 100, { calls: 1000, p95Ms: 10 }], null],
  ["a week with too few calls", null, [5000, 100, { calls: 49, p95Ms: 10 }], null],
  ["a limit of its own", { latencyMs: 1000, latencyFactor: null }, [1001, 100, { calls: 0, p95Ms: null }], "slow"],
  ["calls below it", { latencyMs: 1000, latencyFactor: null }, [1000], null],
  ["the lower of both limits", { latencyMs: 1000, latencyFactor: 2 }, [401], "slow"],
  ["no limit", { latencyMs: null, latencyFactor: null }, [60_000], null],
])("CAP-6 slow calls, or not: %s", async (_, rule, measured, expected) => {
  if (rule) await save(rule);
  expect(await record(...measured)).toBe(expected);
});

test("CAP-6 slow calls end when there are none any more, and not because there are few", async () => {
  await record(5000);
  expect(await record(10, 3)).toBeNull();
  expect(await record(null, 0)).toBe("normal");
});

test("CAP-6 two workers that measure at once raise one event", async () => {
  const found = await Promise.all([record(5000), record(5000), record(5000)]);
  expect(found.filter((each) => each === "slow")).toHaveLength(1);
  expect(await events()).toHaveLength(1);
});

test("CAP-6 members set when calls are slow, viewers read it; it is audited and checked", async () => {
  expect(await getLatencyRule({ ctx: suite.as(suite.organization.owner), input: suite.at() })).toEqual({
    latencyMs: null,
    latencyFactor: 3,
  });
  await save({ latencyMs: 800, latencyFactor: null });
  const viewer = suite.as(await suite.organization.join("viewer"));
  const rule = { latencyMs: 800, latencyFactor: null };
  expect(await getLatencyRule({ ctx: viewer, input: suite.at() })).toEqual(rule);
  expect(await refusalCode(saveLatencyRule({ ctx: viewer, input: { ...suite.at(), ...rule } }))).toBe("forbidden");
  const wrong = await refusal(save({ latencyMs: Number.NaN, latencyFactor: 1 }));
  expect(wrong.fields).toEqual({ latencyMs: "Enter milliseconds", latencyFactor: "Enter 2 or more" });
  const audits = await suite.database.db.select().from(auditLog).where(eq(auditLog.projectId, suite.project.id));
  expect(audits).toMatchObject([{ subject: suite.project.name, detail: rule }]);
});

test("CAP-6 only servers of which a channel gets slow calls are watched, and those that are slow are marked", async () => {
  const other = await seedProject(suite.database.db, suite.organization);
  const watched = async () => {
    const all = await listWatchedProjects({ ctx: worker(), input: { kind: "latency.band" } });
    return all.filter(({ id }) => [other.id, suite.project.id].includes(id));
  };
  expect(await watched()).toEqual([]);
  const input = { name: "A", format: "slack", url: "https://a.test", projectIds: [suite.project.id] } as const;
  const ctx = suite.as(suite.organization.owner);
  await createAlertChannel({
    ctx,
    input: { ...input, projectIds: [suite.project.id], orgSlug: suite.organization.slug, events: ["latency.band"] },
  });
  await record(5000);
  expect(await watched()).toEqual([{ id: suite.project.id, isSlow: true }]);
  await suite.database.db.update(alertRule).set({ slowSince: null });
  expect(await watched()).toEqual([{ id: suite.project.id, isSlow: false }]);
});
