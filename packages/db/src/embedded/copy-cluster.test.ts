import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { copyCluster } from "./copy-cluster.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres.ts";

let directory = "";
const running: EmbeddedPostgres[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-copy-"));
});
afterEach(async () => {
  for (const postgres of running.splice(0)) await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});

async function start(name: string): Promise<{ postgres: EmbeddedPostgres; pool: pg.Pool }> {
  const socketDirectory = join(directory, `${name}.run`);
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, name),
    socketDirectory,
    durable: true,
  });
  running.push(postgres);
  const pool = new pg.Pool({ connectionString: postgres.url });
  pool.on("error", () => {});
  return { postgres, pool };
}

test.runIf(isThorough)(
  "OPS-10 a copy of a database that is being written starts, has all rows of before, and no half of a transaction",
  async () => {
    const { postgres, pool } = await start("data");
    await pool.query("CREATE TABLE pair (id int PRIMARY KEY, side text)");
    await pool.query("INSERT INTO pair SELECT n, repeat('x', 200) FROM generate_series(1, 20000) n");
    let last = 20_000;
    let isWriting = true;
    const writing = (async () => {
      // Both rows of each statement, or neither; checkpoints recycle the log meanwhile.
      for (; isWriting; last += 2) {
        await pool.query("INSERT INTO pair VALUES ($1, 'a'), ($1 + 1, 'b')", [last + 1]);
        if (last % 50 === 0) await pool.query("CHECKPOINT");
      }
    })();
    await expect.poll(() => last).toBeGreaterThan(20_050);
    const before = last;
    await copyCluster(postgres.url, join(directory, "data"), join(directory, "copies", "one"));
    isWriting = false;
    await writing;
    await pool.end();
    expect(await readdir(join(directory, "copies"))).toEqual(["one"]);

    const copy = await start("copies/one");
    const { rows } = await copy.pool.query<{ n: number; max: number }>("SELECT count(*)::int AS n, max(id) FROM pair");
    const [{ n, max } = { n: 0, max: 0 }] = rows;
    expect(n).toBe(max);
    expect(n % 2).toBe(0);
    expect(n).toBeGreaterThanOrEqual(before);
    await copy.pool.query("INSERT INTO pair VALUES (0, 'c')");
    await copy.pool.end();
  },
);

test.runIf(isThorough)("OPS-10 a copy that fails leaves nothing behind", async () => {
  const { postgres, pool } = await start("data");
  await pool.end();
  const target = join(directory, "copies", "two");
  await expect(copyCluster(`${postgres.url}&user=nobody`, join(directory, "data"), target)).rejects.toThrow();
  expect(await readdir(join(directory, "copies"))).toEqual([]);
});
