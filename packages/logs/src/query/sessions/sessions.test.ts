import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { beforeAll, describe, expect, test } from "vitest";
import {
  foldRequestLogs,
  listSessions,
  listUsers,
  type RequestLogRow,
  sessionStats,
  sessionTimeseries,
  sessionUsage,
  userStats,
  userTimeseries,
  userUsage,
  writeRequestLogs,
} from "../../index.ts";
import { requestLogRow } from "../../testing/rows.ts";
import type { SessionEntry } from "./session-query.schema.ts";

const database = openTestDatabase();

const minute = 60_000;
const hour = 60 * minute;
const write = (rows: RequestLogRow[]) => writeRequestLogs(database.pool, rows);
const foldAll = async (limits = {}) => {
  while ((await foldRequestLogs(database.pool, limits)) > 0);
};
const modern = { session: null, protocolVersion: "2026-07-28" };
async function sessionsOf(projectId: string): Promise<SessionEntry[]> {
  const all: SessionEntry[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await listSessions(database.pool, { projectId, ...(cursor ? { cursor } : {}) });
    all.push(...page.data);
    cursor = page.nextCursor;
  }
  return all;
}
const spans = (sessions: readonly SessionEntry[]) =>
  sessions.map(({ principal, firstSeen, lastSeen, calls }) => [
    principal,
    Date.parse(firstSeen),
    Date.parse(lastSeen),
    calls,
  ]);

/** Numbers that look random and are the same in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Sessions as they are defined, from all rows at once. */
function expectedSessions(rows: readonly RequestLogRow[]): (string | number)[][] {
  const groups = Map.groupBy(rows, (row) => row.session ?? JSON.stringify([row.principal, row.clientName]));
  const found = [...groups.values()].flatMap((group) => {
    const sorted = group.toSorted((a, b) => a.time - b.time);
    const pieces: RequestLogRow[][] = [];
    for (const row of sorted) {
      const last = pieces.at(-1);
      const pause = row.time - (last?.at(-1)?.time ?? Number.NEGATIVE_INFINITY);
      if (last && (row.session !== null || pause <= 30 * minute)) last.push(row);
      else pieces.push([row]);
    }
    return pieces.map((piece) => [
      piece[0]?.principal ?? "",
      piece[0]?.time ?? 0,
      piece.at(-1)?.time ?? 0,
      piece.length,
    ]);
  });
  return found.toSorted((a, b) => Number(b[2]) - Number(a[2]));
}

describe("sessions of both eras", () => {
  test("LOG-2 a legacy session is identified by its id, across pauses; its client, versions and principal are shown", async () => {
    const projectId = randomUUID();
    const now = Date.now();
    const call = { projectId, session: "abc", principal: "user:1", clientName: "claude", clientVersion: "2.1" };
    await write([
      requestLogRow({ ...call, time: now - 5 * hour, method: "initialize", protocolVersion: "2025-06-18" }),
      requestLogRow({
        ...call,
        time: now - minute,
        isError: true,
        outcome: "tool_error",
        protocolVersion: "2025-06-18",
      }),
    ]);
    await foldAll();
    const [session, ...more] = await sessionsOf(projectId);
    expect(more).toEqual([]);
    expect(session).toMatchObject({
      id: "abc",
      session: "abc",
      principal: "user:1",
      clientName: "claude",
      clientVersion: "2.1",
      protocolVersion: "2025-06-18",
      calls: 2,
      errors: 1,
    });
  });

  test("LOG-2 without an id, a pause of more than 30 minutes of principal and client begins a new session", async () => {
    const projectId = randomUUID();
    const start = Date.now() - 10 * hour;
    const call = { ...modern, projectId, principal: "key:1", clientName: "agent" };
    await write([
      requestLogRow({ ...call, time: start }),
      requestLogRow({ ...call, time: start + 30 * minute }),
      requestLogRow({ ...call, time: start + 60 * minute + 1 }),
      requestLogRow({ ...call, time: start, clientName: "other" }),
      requestLogRow({ ...call, time: start, principal: "key:2" }),
    ]);
    await foldAll();
    expect(spans(await sessionsOf(projectId)).toSorted()).toEqual(
      [
        ["key:1", start + 60 * minute + 1, start + 60 * minute + 1, 1],
        ["key:1", start, start + 30 * minute, 2],
        ["key:1", start, start, 1],
        ["key:2", start, start, 1],
      ].toSorted(),
    );
  });

  test("LOG-2 a late row joins two sessions, and the ids and counts of both stay good", async () => {
    const projectId = randomUUID();
    const start = Date.now() - 10 * hour;
    const call = { ...modern, projectId, principal: "user:1" };
    await write([requestLogRow({ ...call, time: start }), requestLogRow({ ...call, time: start + 50 * minute })]);
    await foldAll();
    const before = await sessionsOf(projectId);
    expect(before).toHaveLength(2);
    await write([
      requestLogRow({ ...call, time: start + 25 * minute }),
      requestLogRow({ ...call, time: start - 20 * minute }),
    ]);
    await foldAll();
    const [joined, ...more] = await sessionsOf(projectId);
    expect(more).toEqual([]);
    expect(joined).toMatchObject({ calls: 4, firstSeen: new Date(start - 20 * minute).toISOString() });
    for (const { id } of before) {
      const found = await sessionUsage(database.pool, { projectId, sessionId: id });
      expect(found?.session).toEqual(joined);
    }
    expect(await sessionStats(database.pool, { projectId })).toEqual({
      sessions: 1,
      callsPerSession: 4,
      durationMs: 70 * minute,
    });
  });

  test.each([1, 2, 3, 4])(
    "LOG-2 sessions are the same for any order of rows, by several gateways and repeated: seed %i",
    async (seed) => {
      const next = randomNumbers(seed * 7919);
      const projectId = randomUUID();
      const base = Math.floor((Date.now() - 20 * hour) / 1000) * 1000;
      const rows = Array.from({ length: 300 }, () => {
        const isLegacy = next(3) === 0;
        const principal = `user:${next(3)}`;
        return requestLogRow({
          projectId,
          deploymentId: next(2) === 0 ? randomUUID() : null,
          session: isLegacy ? `session ${next(12)} of ${principal}` : null,
          time: base + next(18 * 60) * minute + next(minute),
          principal,
          clientName: `client ${next(2)}`,
          durationMs: 5,
        });
      });
      const shuffled = rows.map((row) => ({ row, at: next(1_000_000) })).toSorted((a, b) => a.at - b.at);
      while (shuffled.length > 0) {
        const batches = [1, 2, 3].map(() => shuffled.splice(0, 1 + next(25)).map(({ row }) => row));
        // Three gateways at the same time, one of which replays.
        await Promise.all([...batches.map(write), write(batches[0] ?? [])]);
        if (next(2) === 0) await foldAll();
      }
      await foldAll();
      const sessions = await sessionsOf(projectId);
      const byTime = (list: (string | number)[][]) => list.map(String).toSorted();
      expect(byTime(spans(sessions))).toEqual(byTime(expectedSessions(rows)));
      await expectActivityOf(projectId, rows);
    },
  );

  test("LOG-2 calls that the gateway refused begin no session and make no user", async () => {
    const projectId = randomUUID();
    const refused = { projectId, isError: true, outcome: "gateway_error", httpStatus: 401 } as const;
    const now = Date.now();
    await write([
      requestLogRow({ ...refused, ...modern, time: now - 20 * minute }),
      requestLogRow({ ...modern, projectId, time: now, principal: "user:1" }),
      requestLogRow({ ...refused, ...modern, time: now - minute, principal: "user:1", httpStatus: 429 }),
    ]);
    await foldAll();
    expect(spans(await sessionsOf(projectId))).toEqual([["user:1", now, now, 1]]);
    expect(
      (await listUsers(database.pool, { projectId })).data.map(({ principal, calls }) => [principal, calls]),
    ).toEqual([["user:1", 1]]);
  });

  test("LOG-2 callers beyond the daily limit have no session, but their users count", async () => {
    const projectId = randomUUID();
    const deploymentId = randomUUID();
    await write(
      Array.from({ length: 20 }, (_, at) =>
        requestLogRow({ projectId, deploymentId, session: `s${at}`, principal: "user:1" }),
      ),
    );
    await foldAll({ maxNewCallers: 5 });
    expect(await sessionsOf(projectId)).toHaveLength(5);
    expect((await userUsage(database.pool, { projectId, principal: "user:1", timeRange: "24h" }))?.user).toMatchObject({
      calls: 20,
    });
  });
});

/** The stored counts of each period are those of the sessions and rows. */
async function expectActivityOf(projectId: string, rows: readonly RequestLogRow[]): Promise<void> {
  const sessions = expectedSessions(rows);
  for (const seconds of [600, 3600, 21_600, 86_400]) {
    const bin = (time: number) => Math.floor(time / seconds / 1000) * seconds * 1000;
    const stored = await database.pool.query(
      `SELECT extract(epoch FROM time)::float8 * 1000 AS time, begun, ended, ended_calls::int AS calls, users
       FROM request_log_activity WHERE project_id = $1 AND seconds = $2 AND (begun, ended, users) <> (0, 0, 0) ORDER BY 1`,
      [projectId, seconds],
    );
    const times = [
      ...new Set([
        ...sessions.flatMap(([, first, last]) => [bin(Number(first)), bin(Number(last))]),
        ...(seconds < 3600 ? [] : rows.map((row) => bin(row.time))),
      ]),
    ];
    const expected = times
      .toSorted((a, b) => a - b)
      .map((time) => {
        const ended = sessions.filter((session) => bin(Number(session[2])) === time);
        const callers = rows.filter((row) => bin(row.time) === time).map((row) => row.principal);
        return {
          time,
          begun: sessions.filter((session) => bin(Number(session[1])) === time).length,
          ended: ended.length,
          calls: ended.reduce((sum, session) => sum + Number(session[3]), 0),
          users: seconds < 3600 ? 0 : new Set(callers).size,
        };
      });
    expect([seconds, stored.rows]).toEqual([seconds, expected]);
  }
}

describe("lists", () => {
  const projectId = randomUUID();
  const now = Date.now();
  beforeAll(async () => {
    await write(
      Array.from({ length: 230 }, (_, at) =>
        // Two each share an instant, so that the key must distinguish them.
        requestLogRow({
          projectId,
          session: `s${at}`,
          principal: `user:${at}`,
          time: now - Math.floor(at / 2) * 5 * minute,
        }),
      ),
    );
    await write([requestLogRow({ projectId, session: "old", principal: "user:0", time: now - 30 * hour })]);
    await foldAll();
  });

  test("LOG-1 PRJ-17 pages of 100 by keyset, each entry once, and a next page only after a full one", async () => {
    for (const [list, total] of [
      [listSessions, 230],
      [listUsers, 230],
    ] as const) {
      const seen: string[] = [];
      let cursor: string | null = null;
      const sizes: number[] = [];
      do {
        const page: Awaited<ReturnType<typeof list>> = await list(database.pool, {
          projectId,
          ...(cursor ? { cursor } : {}),
        });
        sizes.push(page.data.length);
        seen.push(...page.data.map((entry) => entry.principal));
        cursor = page.nextCursor;
      } while (cursor);
      expect(sizes).toEqual([100, 100, 30]);
      expect(new Set(seen).size).toBe(total);
    }
    const last = await listSessions(database.pool, { projectId, limit: 100, timeRange: "1h" });
    expect([last.data.length, last.nextCursor]).toEqual([24, null]);
    await expect(listSessions(database.pool, { projectId, cursor: "1; DROP" })).rejects.toThrow("Not a cursor");
    expect((await listSessions(database.pool, { projectId: randomUUID() })).data).toEqual([]);
  });

  test("LOG-1 the time range bounds lists, a user's sessions and figures", async () => {
    const mine = (timeRange: "24h" | "7d") =>
      listSessions(database.pool, { projectId, timeRange, principal: "user:0" });
    expect((await mine("24h")).data.map(({ id }) => id)).toEqual(["s0"]);
    expect((await mine("7d")).data.map(({ id }) => id)).toEqual(["s0", "old"]);
    const user = (timeRange: "24h" | "7d") => userUsage(database.pool, { projectId, principal: "user:0", timeRange });
    expect([(await user("24h"))?.user.calls, (await user("7d"))?.user.calls]).toEqual([1, 2]);
    expect([(await user("24h"))?.usage.counted, (await user("7d"))?.usage.counted]).toEqual([1, 2]);
    expect(await userUsage(database.pool, { projectId, principal: "user:none", timeRange: "24h" })).toBeNull();
    expect(await sessionStats(database.pool, { projectId })).toMatchObject({ sessions: 230 });
    expect(await sessionStats(database.pool, { projectId, timeRange: "7d" })).toMatchObject({ sessions: 231 });
    expect(await userStats(database.pool, { projectId })).toEqual({ users: 230, newUsers: 229 });
    expect(await userStats(database.pool, { projectId: randomUUID() })).toEqual({ users: 0, newUsers: 0 });
    expect(await sessionStats(database.pool, { projectId: randomUUID() })).toEqual({
      sessions: 0,
      callsPerSession: null,
      durationMs: null,
    });
  });

  test.each(["15m", "1h", "6h", "24h", "7d", "30d"] as const)(
    "LOG-1 a timeseries of %s has every period, empty ones too, and its counts",
    async (timeRange) => {
      const sessions = await sessionTimeseries(database.pool, { projectId, timeRange });
      const users = await userTimeseries(database.pool, { projectId, timeRange });
      const starts = sessions.data.map(({ start }) => Date.parse(start));
      expect(new Set(starts.slice(1).map((start, at) => start - (starts[at] ?? 0))).size).toBeLessThan(2);
      expect(starts.length).toBeLessThanOrEqual(37);
      const begun = sessions.data.reduce((sum, { count }) => sum + count, 0);
      const all = { "15m": 8, "1h": 26, "6h": 146, "24h": 230, "7d": 231, "30d": 231 }[timeRange];
      // The first period may begin before the range.
      expect(begun).toBeGreaterThanOrEqual(all - 4);
      for (const [at, { count }] of users.data.entries())
        expect(count).toBeLessThanOrEqual(timeRange === "30d" ? 231 : (sessions.data[at]?.count ?? 0) + 1);
      expect(users.data.some(({ count }) => count > 0)).toBe(true);
    },
  );

  test("LOG-1 a session's usage lists its called items, with counts, errors and durations", async () => {
    const project = randomUUID();
    const call = { projectId: project, deploymentId: randomUUID(), session: "busy", principal: "user:1" };
    const rows = Array.from({ length: 40 }, (_, at) =>
      requestLogRow({
        ...call,
        time: now - at * 7 * minute,
        target: at % 4 === 0 ? "rare" : "often",
        isError: at % 8 === 0,
        outcome: at % 8 === 0 ? "tool_error" : "ok",
        durationMs: 1 + at,
      }),
    );
    await write([...rows, ...rows.map((row) => ({ ...row, id: randomUUID(), session: "other", principal: "user:2" }))]);
    await foldAll();
    const found = await sessionUsage(database.pool, { projectId: project, sessionId: "busy" });
    expect(found?.session).toMatchObject({ calls: 40, errors: 5 });
    expect(found?.usage.counted).toBe(40);
    expect(found?.usage.data).toEqual([
      { method: "tools/call", target: "often", calls: 30, errors: 0, p50Ms: 20, p95Ms: 39 },
      { method: "tools/call", target: "rare", calls: 10, errors: 5, p50Ms: 17, p95Ms: 37 },
    ]);
    const user = await userUsage(database.pool, { projectId: project, principal: "user:1", timeRange: "24h" });
    expect(user?.usage.data.map(({ target, calls }) => [target, calls])).toEqual([
      ["often", 30],
      ["rare", 10],
    ]);
    expect(await sessionUsage(database.pool, { projectId: randomUUID(), sessionId: "busy" })).toBeNull();
    for (const id of ["none", "~1~1", "~x", "'; --"])
      expect(await sessionUsage(database.pool, { projectId: project, sessionId: id })).toBeNull();
  });
});
