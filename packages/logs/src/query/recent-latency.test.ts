import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { foldRequestLogs, recentLatency, recentlyCalled, writeRequestLogs } from "../index.ts";
import { requestLogRow } from "../testing/index.ts";

const database = openTestDatabase();
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

async function write(projectId: string, calls: readonly { readonly agoMs: number; readonly ms: number }[]) {
  const now = Date.now();
  const rows = calls.map(({ agoMs, ms }) => requestLogRow({ projectId, time: now - agoMs, durationMs: ms }));
  for (const row of rows)
    await database.pool.query("SELECT towpath_ensure_log_partitions($1::date)", [new Date(row.time)]);
  await writeRequestLogs(database.pool, rows);
}
const calls = (count: number, agoMs: number, ms: number) => Array.from({ length: count }, () => ({ agoMs, ms }));

test.each([false, true])(
  "CAP-6 the 95th percentile of 15 minutes and of the week before, folded: %s",
  async (isFolded) => {
    const projectId = randomUUID();
    await write(projectId, [
      ...calls(90, 5 * minuteMs, 100),
      ...calls(10, 10 * minuteMs, 2000),
      ...calls(60, 5 * hourMs, 40),
      ...calls(40, 3 * 24 * hourMs, 50),
      // Neither of both.
      ...calls(500, 9 * 24 * hourMs, 9000),
    ]);
    if (isFolded) while ((await foldRequestLogs(database.pool)) > 0);
    const { now, before } = await recentLatency(database.pool, projectId);
    expect([now.calls, before.calls]).toEqual([100, 100]);
    expect((now.p95Ms ?? 0) / 2000).toBeCloseTo(1, 1);
    expect((before.p95Ms ?? 0) / 50).toBeCloseTo(1, 1);
  },
);

test("CAP-6 a server without calls has no latency, and one without recent calls isn't measured", async () => {
  const [quiet, busy] = [randomUUID(), randomUUID()];
  expect(await recentLatency(database.pool, quiet)).toEqual({
    now: { calls: 0, p95Ms: null },
    before: { calls: 0, p95Ms: null },
  });
  await write(busy, calls(1, minuteMs, 10));
  await write(quiet, calls(1, hourMs, 10));
  while ((await foldRequestLogs(database.pool)) > 0);
  expect(await recentlyCalled(database.pool, [quiet, busy])).toEqual([busy]);
});
