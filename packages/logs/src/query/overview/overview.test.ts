import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { foldRequestLogs } from "../../fold/fold-request-logs.ts";
import { requestLogRow } from "../../testing/rows.ts";
import type { RequestLogRow } from "../../write/request-log.row.ts";
import { writeRequestLogs } from "../../write/write-request-logs.ts";
import { firstUses } from "./first-uses.ts";
import { projectOverview } from "./project-overview.ts";
import { serversActivity } from "./servers-activity.ts";

const database = openTestDatabase();

const hour = 3_600_000;
const now = Math.floor(Date.now() / hour) * hour + 20 * 60_000;
const ago = (hours: number) => now - hours * hour;
const failed = { isError: true, outcome: "tool_error" } as const;

async function write(rows: (Partial<RequestLogRow> & { projectId: string })[]): Promise<void> {
  await writeRequestLogs(database.pool, rows.map(requestLogRow));
}
async function fold(): Promise<void> {
  while ((await foldRequestLogs(database.pool)) > 0);
}

test("PRJ-19 calls, errors, percentiles and tools of the last day and of the day before, folded or not", async () => {
  const projectId = randomUUID();
  const call = (hours: number, more: Partial<RequestLogRow> = {}) => ({
    projectId,
    time: ago(hours),
    durationMs: 10,
    ...more,
  });
  await write([
    ...[1, 1.2, 3].map((hours) => call(hours, { target: "forecast" })),
    call(3, { target: "forecast", durationMs: 400, ...failed }),
    call(5, { target: "current" }),
    call(30, { target: "forecast", durationMs: 100 }),
    // Neither of the two days.
    call(49, { target: "old" }),
  ]);
  const fresh = await projectOverview(database.pool, { projectId }, now);
  await fold();
  const folded = await projectOverview(database.pool, { projectId }, now);
  for (const { current, previous, tools, hours } of [fresh, folded]) {
    expect(current).toMatchObject({ calls: 5, errors: 1 });
    expect(previous).toMatchObject({ calls: 1, errors: 0 });
    expect(current.p50Ms).toBeCloseTo(10, -0.2);
    expect((current.p95Ms ?? 0) / 400).toBeCloseTo(1, 1);
    expect((previous.p50Ms ?? 0) / 100).toBeCloseTo(1, 1);
    expect(tools).toMatchObject([
      { tool: "forecast", calls: 4, errors: 1 },
      { tool: "current", calls: 1, errors: 0 },
    ]);
    expect((tools[0]?.p95Ms ?? 0) / 400).toBeCloseTo(1, 1);
    expect(hours).toHaveLength(25);
    expect(hours.map(({ calls }) => calls).filter(Boolean)).toEqual([1, 2, 2]);
    expect(hours.find(({ errors }) => errors > 0)).toMatchObject({
      start: new Date(ago(3) - 20 * 60_000).toISOString(),
    });
  }
  expect(folded.lastCall).toBe(new Date(ago(1)).toISOString());
});

test("PRJ-19 handshakes, lists and refusals are no calls; a handshake that failed is one, and an error", async () => {
  const projectId = randomUUID();
  const at = { projectId, time: ago(2) };
  await write([
    { ...at, method: "initialize", target: null },
    { ...at, method: "tools/list", target: null },
    { ...at, method: "notifications/initialized", target: null },
    { ...at, method: "tools/call", isError: true, outcome: "gateway_error", httpStatus: 401 },
    { ...at, method: "resources/read", target: "file:///a" },
    { ...at, method: "initialize", target: null, isError: true, outcome: "gateway_error", httpStatus: 503 },
  ]);
  await fold();
  const { current, tools } = await projectOverview(database.pool, { projectId }, now);
  expect([current.calls, current.errors, tools]).toEqual([2, 1, []]);
});

test("PRJ-19 callers are people and keys, however many programs and sessions they use, by day and hour", async () => {
  const projectId = randomUUID();
  const call = (hours: number, principal: string, clientName: string, session: string) =>
    ({ projectId, time: ago(hours), principal, clientName, session }) as const;
  await write([
    ...[2, 1].map((hours) => call(hours, "user:a", "claude", "s1")),
    call(2, "user:a", "cursor", "s2"),
    call(2, "user:b", "cursor", "s3"),
    call(2, "user:b", "cursor", "s4"),
    call(30, "user:c", "claude", "s5"),
  ]);
  await fold();
  const { current, previous, hours } = await projectOverview(database.pool, { projectId }, now);
  expect([current.callers, previous.callers]).toEqual([2, 1]);
  expect(hours.slice(-4).map(({ callers }) => callers)).toEqual([0, 2, 1, 0]);
});

test("PRJ-19 clients that only connected, listed or were refused are no callers; those whose start failed are", async () => {
  const projectId = randomUUID();
  const at = { projectId, time: ago(2), target: null };
  await write([
    { ...at, principal: "user:uses", method: "tools/list" },
    { ...at, principal: "user:uses", method: "prompts/get", target: "greet" },
    { ...at, principal: "user:lists", method: "initialize" },
    { ...at, principal: "user:lists", method: "tools/list" },
    { ...at, principal: "user:refused", isError: true, outcome: "gateway_error", httpStatus: 429 },
    { ...at, principal: "user:fails", method: "initialize", isError: true, outcome: "gateway_error", httpStatus: 503 },
    { ...at, principal: "user:lists", method: "tools/call", time: ago(30) },
  ]);
  await fold();
  const { current, previous, hours } = await projectOverview(database.pool, { projectId }, now);
  expect([current.calls, current.callers, previous.callers]).toEqual([2, 2, 1]);
  expect(hours.map(({ callers }) => callers).filter(Boolean)).toEqual([2]);
});

test("PRJ-19 a branch's overview counts the calls of its deployments only", async () => {
  const projectId = randomUUID();
  const [preview, production] = [randomUUID(), randomUUID()];
  await write([
    { projectId, time: ago(1), deploymentId: preview, principal: "user:a" },
    ...[2, 3].map((hours) => ({
      projectId,
      time: ago(hours),
      deploymentId: production,
      principal: "user:b",
      session: "t",
    })),
  ]);
  await fold();
  const { current, lastCall } = await projectOverview(database.pool, { projectId, deploymentIds: [production] }, now);
  expect(current).toMatchObject({ calls: 2, callers: null });
  expect(lastCall).toBe(new Date(ago(2)).toISOString());
  const none = await projectOverview(database.pool, { projectId, deploymentIds: [] }, now);
  expect([none.current.calls, none.lastCall]).toEqual([0, null]);
});

test("PRJ-19 a project without calls has zeros and no percentiles", async () => {
  const overview = await projectOverview(database.pool, { projectId: randomUUID() }, now);
  const nothing = { calls: 0, errors: 0, p50Ms: null, p95Ms: null, callers: 0 };
  expect(overview).toMatchObject({ current: nothing, previous: nothing, tools: [], lastCall: null });
  expect(overview.hours).toHaveLength(25);
});

test("ORG-2 the list of servers: calls, errors, hours and last call of each project, and of no other", async () => {
  const [busy, quiet, foreign] = [randomUUID(), randomUUID(), randomUUID()];
  const rows = [
    { projectId: busy, time: ago(1) },
    { projectId: busy, time: ago(1.1), ...failed },
    { projectId: busy, time: ago(23) },
    { projectId: busy, time: ago(26) },
    { projectId: busy, time: ago(1), method: "tools/list", target: null },
    { projectId: foreign, time: ago(1) },
  ];
  await write(rows);
  const fresh = await serversActivity(database.pool, [busy, quiet], now);
  await fold();
  const folded = await serversActivity(database.pool, [busy, quiet], now);
  for (const found of [fresh, folded]) {
    const of = (id: string) => found.find(({ projectId }) => projectId === id);
    expect(found).toHaveLength(2);
    expect(of(busy)).toMatchObject({ calls: 3, errors: 1 });
    expect(of(busy)?.hours).toHaveLength(25);
    expect(of(busy)?.hours.filter(Boolean)).toEqual([1, 2]);
    expect(of(quiet)).toMatchObject({ calls: 0, errors: 0, lastCall: null });
  }
  expect(folded.find(({ projectId }) => projectId === busy)?.lastCall).toBe(new Date(ago(1)).toISOString());
  expect(await serversActivity(database.pool, [], now)).toEqual([]);
});

test("SRC-4 the first successful call by anybody, and by a client other than the dashboard and the terminal", async () => {
  const by = async (...rows: Partial<RequestLogRow>[]) => {
    const projectId = randomUUID();
    await write(rows.map((row) => ({ projectId, time: ago(1), ...row })));
    await fold();
    const { isCalled, isConnected } = await firstUses(database.pool, projectId);
    return [isCalled, isConnected];
  };
  const lists = { method: "tools/list", target: null };
  const refused = { isError: true, outcome: "gateway_error", httpStatus: 401 } as const;
  expect(await by()).toEqual([false, false]);
  for (const clientName of ["Towpath inspector", "Towpath chat", "towpath-cli", "Towpath inspector via shop"])
    expect([clientName, ...(await by({ clientName }))]).toEqual([clientName, true, false]);
  expect(await by({ clientName: "claude-ai", ...lists })).toEqual([false, true]);
  expect(await by({ clientName: "cursor" })).toEqual([true, true]);
  // Called by a program without a name; refused; and a tool that failed.
  expect(await by({ clientName: null })).toEqual([true, false]);
  expect(await by({ clientName: "cursor", ...refused })).toEqual([false, false]);
  expect(await by({ clientName: "Towpath inspector", ...failed })).toEqual([false, false]);
});
