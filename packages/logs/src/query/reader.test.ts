import { openDatabase } from "@towpath/db";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { foldRequestLogs, indexFinishedDays, limitedReader } from "../index.ts";
import { fillProject } from "../testing/index.ts";

const database = openTestDatabase();

test("LOG-5 a slow statement is canceled, and the limit leaves nothing on a connection that others share", async () => {
  const { pool, close } = openDatabase(database.url, { maxConnections: 1 });
  try {
    const reader = limitedReader(pool, 100);
    expect((await reader.query<{ n: number }>("SELECT $1::int AS n", [1])).rows).toEqual([{ n: 1 }]);
    const timeout = async () => (await pool.query("SHOW statement_timeout")).rows[0].statement_timeout;
    expect(await timeout()).toBe("0");
    await expect(reader.query("SELECT pg_sleep(10)")).rejects.toMatchObject({ code: "57014" });
    expect(await timeout()).toBe("0");
  } finally {
    await close();
  }
});

test("LOG-5 workers that take turns leave no lock on a connection that others share", async () => {
  await fillProject(database.pool, 90, () => {});
  const locks = async () =>
    (
      await database.pool.query(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      )
    ).rows;
  expect(await indexFinishedDays(database.pool, AbortSignal.abort())).toBe(0);
  expect(await locks()).toEqual([]);
  await foldRequestLogs(database.pool);
  expect(await locks()).toEqual([]);
});
