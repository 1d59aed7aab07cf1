import { rename, rm, writeFile } from "node:fs/promises";
import { openDatabase } from "@towpath/db";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { SupervisedPostgres } from "./supervised-postgres.ts";

let directory = "";
beforeEach(async () => {
  directory = await shortDirectory();
  // Restarts are reported on stderr.
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const database = openDatabase(url, { maxConnections: 1 });
  try {
    return (await database.pool.query(sql)).rows;
  } finally {
    await database.close();
  }
}

test("OPS-1 a PostgreSQL that is killed is back with its data, also with a query in full swing, every time", async () => {
  const options = { dataDirectory: `${directory}/data`, socketDirectory: `${directory}/s`, durable: true };
  const postgres = await SupervisedPostgres.start(options);
  await query(postgres.url, "CREATE TABLE kept (kill int)");
  const inFullSwing = `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE state = 'active' AND query LIKE '%1e12%' AND pid <> pg_backend_pid()`;
  for (let kill = 1; kill <= 3; kill++) {
    await query(postgres.url, `INSERT INTO kept VALUES (${kill})`);
    // It never waits, so it doesn't notice that its server is gone, and keeps the shared memory.
    const busy = query(postgres.url, "SELECT count(*) FROM generate_series(1, 1e12::bigint)").catch(() => "broken off");
    await expect.poll(() => query(postgres.url, inFullSwing)).toEqual([{ n: 1 }]);
    const killed = postgres.pid;
    process.kill(killed, "SIGKILL");
    // Before it is dead, it may answer once more.
    await expect.poll(() => postgres.pid, { timeout: 30_000 }).not.toBe(killed);
    expect(await query(postgres.url, "SELECT count(*)::int AS n FROM kept")).toEqual([{ n: kill }]);
    expect(await busy).toBe("broken off");
  }
  await postgres.stop();
  await expect(query(postgres.url, "SELECT 1")).rejects.toThrow();
});

test.runIf(isThorough)("OPS-1 a PostgreSQL that was killed while the instance stops stays down", async () => {
  const options = { dataDirectory: `${directory}/data`, socketDirectory: `${directory}/s`, durable: false };
  const postgres = await SupervisedPostgres.start(options);
  process.kill(postgres.pid, "SIGKILL");
  await postgres.stop();
  await expect(query(postgres.url, "SELECT 1")).rejects.toThrow();
});

test.runIf(isThorough)("OPS-1 a start of PostgreSQL that gets nowhere ends at once with the instance", async () => {
  const options = { dataDirectory: `${directory}/data`, socketDirectory: `${directory}/s`, durable: false };
  const postgres = await SupervisedPostgres.start(options);
  // It runs, but refuses connections.
  await writeFile(`${options.dataDirectory}/pg_hba.conf`, "local all all reject\n");
  process.kill(postgres.pid, "SIGKILL");
  const refusal = () => query(postgres.url, "SELECT 1").catch((error: Error) => error.message);
  await expect.poll(refusal, { timeout: 20_000 }).toContain("pg_hba.conf rejects");
  await postgres.stop();
  expect(await refusal()).toContain("ENOENT");
  // Nor is the end of the start reported: that it took too long, or was stopped.
  const printed = vi.mocked(process.stderr.write).mock.calls.map(([text]) => String(text));
  expect(printed).toEqual([expect.stringContaining("PostgreSQL ended (SIGKILL); restarting now.")]);
});

test.runIf(isThorough)(
  "OPS-1 a PostgreSQL that can't start is retried with growing pauses and one line, and the start continues once it runs",
  async () => {
    const options = { dataDirectory: `${directory}/data`, socketDirectory: `${directory}/s`, durable: true };
    const postgres = await SupervisedPostgres.start(options);
    const control = `${options.dataDirectory}/global/pg_control`;
    const printed = () => vi.mocked(process.stderr.write).mock.calls.map(([text]) => String(text));
    await rename(control, `${directory}/pg_control`);
    process.kill(postgres.pid, "SIGKILL");
    await expect.poll(() => printed().length, { timeout: 20_000 }).toBe(2);
    // Several tries, which print nothing more.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await rename(`${directory}/pg_control`, control);
    await expect.poll(() => printed().length, { timeout: 30_000 }).toBe(3);
    expect(await query(postgres.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await postgres.stop();
    expect(printed()).toEqual([
      expect.stringContaining("PostgreSQL ended (SIGKILL); restarting now."),
      expect.stringMatching(/PostgreSQL can't start: [^\n]*pg_control[^\n]*\. Trying again with growing pauses\.\n$/),
      expect.stringContaining("PostgreSQL runs again."),
    ]);
  },
);
