import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { type RequestLogRow, releaseFigures, writeRequestLogs } from "../index.ts";
import { requestLogRow } from "../testing/rows.ts";

const database = openTestDatabase();

test("CAP-8 a version's figures are of its calls since the step began, without waits for a start", async () => {
  const [projectId, stable, candidate] = [randomUUID(), randomUUID(), randomUUID()];
  const from = Date.now() - 60_000;
  const row = (deploymentId: string, more: Partial<RequestLogRow> = {}) =>
    requestLogRow({ projectId, deploymentId, time: from + 1000, durationMs: 100, ...more });
  const failed = { isError: true, outcome: "tool_error" } as const;
  await writeRequestLogs(database.pool, [
    ...Array.from({ length: 18 }, () => row(stable)),
    row(stable, { durationMs: 300 }),
    row(stable, { durationMs: 400 }),
    row(candidate),
    row(candidate, { durationMs: 5000, heldMs: 4800 }),
    row(candidate, { ...failed, durationMs: 150 }),
    // A handshake that fails counts, one that succeeds does not, and neither does what the gateway refuses.
    row(candidate, { ...failed, method: "initialize", target: null, outcome: "http_error", httpStatus: 500 }),
    row(candidate, { method: "initialize", target: null }),
    row(candidate, { method: "tools/list", target: null }),
    row(candidate, { method: null, kind: "other", httpMethod: "GET", durationMs: 600_000 }),
    row(candidate, { isError: true, outcome: "gateway_error", httpStatus: 429, refusal: "limit_reached" }),
    // Earlier, of another deployment, and of another project.
    row(candidate, { ...failed, time: from - 1 }),
    row(randomUUID(), failed),
    requestLogRow({ projectId: randomUUID(), deploymentId: candidate, time: from + 1000, ...failed }),
  ]);
  const of = { projectId, stableDeploymentId: stable, candidateDeploymentId: candidate, from: new Date(from) };
  expect(await releaseFigures(database.pool, of)).toEqual({
    stable: { calls: 20, errors: 0, p50Ms: 100, p95Ms: 300 },
    candidate: { calls: 4, errors: 2, p50Ms: 100, p95Ms: 200 },
  });
  const none = { calls: 0, errors: 0, p50Ms: null, p95Ms: null };
  const later = { ...of, from: new Date() };
  expect(await releaseFigures(database.pool, later)).toEqual({ stable: none, candidate: none });
});
