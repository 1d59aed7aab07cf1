import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DatabaseClient, migrateDatabase, openDatabase } from "@towpath/db";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@towpath/db/embedded";
import { indexFinishedDays, limitedReader, queryRequestLogs } from "@towpath/logs";
import { fillProject, projectId } from "@towpath/logs/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasPgBouncer, type Pooler, startPooler } from "../instance/pooler.ts";

let directory: string;
let postgres: EmbeddedPostgres;
let pooler: Pooler;
let direct: DatabaseClient;
let pooled: DatabaseClient;
beforeAll(async () => {
  if (!hasPgBouncer) return;
  directory = await mkdtemp(join(tmpdir(), "towpath-pool-"));
  postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "pg"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  await migrateDatabase(postgres.url);
  pooler = await startPooler(join(directory, "b"), postgres.url);
  direct = openDatabase(postgres.url);
  pooled = openDatabase(pooler.url);
  await fillProject(pooled.pool, 3000, () => {});
});
afterAll(async () => {
  if (!hasPgBouncer) return;
  await Promise.all([pooled.close(), direct.close()]);
  await pooler.stop();
  await postgres.stop();
  await rm(directory, { recursive: true });
});

test.skipIf(!hasPgBouncer)(
  "OPS-2 behind a transaction pooler workers index the log in turns, and no lock outlives its transaction",
  async () => {
    const indexed = await Promise.all([1, 2].map(() => indexFinishedDays(pooled.pool)));
    expect(Math.max(...indexed)).toBeGreaterThan(28);
    expect(await indexFinishedDays(pooled.pool)).toBe(0);
    expect((await direct.pool.query("SELECT pid FROM pg_locks WHERE locktype = 'advisory'")).rows).toEqual([]);
  },
);

test.skipIf(!hasPgBouncer)(
  "OPS-2 behind a transaction pooler a reader's slow statement is canceled, and nobody else's",
  async () => {
    const reader = limitedReader(pooled.pool, 2000);
    expect((await queryRequestLogs(reader, { projectId, timeRange: "30d" })).data).toHaveLength(100);
    await expect(reader.query("SELECT pg_sleep(60)")).rejects.toMatchObject({ code: "57014" });
    const timeouts = Array.from({ length: 20 }, () => pooled.pool.query("SHOW statement_timeout"));
    for (const { rows } of await Promise.all(timeouts)) expect(rows).toEqual([{ statement_timeout: "0" }]);
  },
);
