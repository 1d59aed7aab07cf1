import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { queryRequestLogs, readRequestLog, writeRequestLogs } from "../index.ts";
import { requestLogRow } from "../testing/rows.ts";

const database = openTestDatabase();

test("CAP-2 PRJ-5 calls are found by the state of a kept result, which each row has, on later pages too", async () => {
  const { pool } = database;
  const [organizationId, kept] = [randomUUID(), randomUUID()];
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Kept', $1::uuid::text)", [organizationId]);
  await pool.query(
    "INSERT INTO project (id, organization_id, name, entrypoint) VALUES ($1, $2, $1::uuid::text, 'server.py')",
    [kept, organizationId],
  );
  const rows = Array.from({ length: 6 }, () => requestLogRow({ projectId: kept, method: "tools/call" }));
  await writeRequestLogs(pool, rows);
  const states = ["waiting", "waiting", "fetched", "unknown", "expired"];
  for (const [at, state] of states.entries()) {
    const { id = "", time = 0 } = rows[at] ?? {};
    await pool.query(
      `INSERT INTO kept_call (id, project_id, arguments_hash, state, started_at, expires_at)
       VALUES ($1, $2, '', $3, $4, now() + $5::interval)`,
      [id, kept, state === "expired" ? "waiting" : state, new Date(time), state === "expired" ? "-1 s" : "1 h"],
    );
  }
  const read = async (query: object) => {
    const { data, nextCursor } = await queryRequestLogs(pool, { projectId: kept, ...query });
    return { states: data.map((row) => row.kept).toSorted(), nextCursor };
  };
  expect((await read({})).states.toSorted()).toEqual([...states, null].toSorted());
  for (const state of new Set(states))
    expect((await read({ kept: state })).states).toEqual(states.filter((each) => each === state));
  const first = await read({ kept: "waiting", limit: 1 });
  expect(first.states).toEqual(["waiting"]);
  expect((await read({ kept: "waiting", limit: 1, cursor: first.nextCursor })).states).toEqual(["waiting"]);
  const [, , , { id, time } = { id: "", time: 0 }] = rows;
  expect((await readRequestLog(pool, { projectId: kept, id, time: new Date(time) }))?.kept).toBe("unknown");
});
