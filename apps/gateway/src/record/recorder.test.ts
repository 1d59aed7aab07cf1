import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { queryRequestLogs, type RequestLogRow } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../testing/rig.ts";
import { Recorder } from "./recorder.ts";
import { newRowId } from "./rows.ts";
import { adoptSpools, Spool, spoolDirectory } from "./spool.ts";

const log = pino({ level: "silent" });
let database: TestDatabase;
let root: string;
beforeAll(async () => {
  database = await createTestDatabase();
  root = await mkdtemp(join(tmpdir(), "tp-rec-"));
});
afterAll(async () => {
  await database.close();
  await rm(root, { recursive: true });
});

function row(projectId: string, change: Partial<RequestLogRow> = {}): RequestLogRow {
  const time = Date.now();
  return requestLogRow({ id: newRowId(time), time, projectId, ...change });
}

const count = async (projectId: string) => {
  const { rows } = await database.pool.query("SELECT count(*)::int AS count FROM request_log WHERE project_id = $1", [
    projectId,
  ]);
  return rows[0].count as number;
};
const newSpool = () => new Spool(join(root, randomUUID()));
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Makes every write of the request log fail, as a database does that is away, until the result is called. */
async function takeTableAway(): Promise<() => Promise<unknown>> {
  await database.pool.query("ALTER TABLE request_log RENAME TO request_log_away");
  return () => database.pool.query("ALTER TABLE request_log_away RENAME TO request_log");
}

test("GW-10 a row is on disk within the turn that ended its call, and gone from there when it is in the database", async () => {
  const directory = join(root, randomUUID());
  const recorder = new Recorder({ pool: database.pool, spool: new Spool(directory), log });
  const projectId = randomUUID();
  for (let at = 0; at < 40; at++) recorder.add(row(projectId));
  await turn();
  // Not started, not flushed: a process that is killed here leaves the rows to the next one.
  const afterKill = new Recorder({ pool: database.pool, spool: new Spool(directory), log });
  afterKill.start();
  await until(async () => (await count(projectId)) === 40);
  // The killed one, in truth alive, writes them too: nothing is doubled.
  await recorder.stop();
  await afterKill.stop();
  expect(await count(projectId)).toBe(40);
  expect(await readdir(directory)).toEqual([]);
});

test("GW-10 GW-14 rows of workers that there are no more of are taken over, also from segments of the same name", async () => {
  const state = join(root, randomUUID());
  const projectId = randomUUID();
  for (const index of [0, 1, 2, 3]) {
    const killed = new Recorder({ pool: database.pool, spool: new Spool(spoolDirectory(state, index)), log });
    killed.add(row(projectId));
    await turn();
    const [segment = ""] = await readdir(spoolDirectory(state, index));
    await rename(
      join(spoolDirectory(state, index), segment),
      join(spoolDirectory(state, index), `${"1".repeat(15)}-000000.ndjson`),
    );
  }
  adoptSpools(state, 2);
  // The second worker is still there: its spool is its own.
  expect((await readdir(state)).toSorted()).toEqual(["spool", "spool-1"]);
  const first = new Recorder({ pool: database.pool, spool: new Spool(spoolDirectory(state, 0)), log });
  first.start();
  await until(async () => (await count(projectId)) === 3);
  await first.stop();
  expect(await readdir(spoolDirectory(state, 0))).toEqual([]);
  expect(await readdir(spoolDirectory(state, 1))).toHaveLength(1);
});

test("GW-10 with the disk full and the database away, rows wait in memory", async () => {
  const directory = join(root, randomUUID());
  const spool = new Spool(directory);
  await rm(directory, { recursive: true });
  await writeFile(directory, "no file can be made in what is no folder");
  const recorder = new Recorder({ pool: database.pool, spool, log });
  recorder.start();
  const projectId = randomUUID();
  const bringBack = await takeTableAway();
  for (let at = 0; at < 2800; at++) {
    recorder.add(row(projectId));
    if (at % 100 === 0) await turn();
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  await bringBack();
  await until(async () => (await count(projectId)) === 2800);
  expect(recorder.counters).toMatchObject({ dropped: 0, spooled: 0 });
  await recorder.stop();
});

test("GW-10 when disk and memory are full, the chatty project loses rows, and they are counted", async () => {
  const spool = new Spool(join(root, randomUUID()), { maxBytes: 0 });
  const recorder = new Recorder({ pool: database.pool, spool, log });
  const [quiet, chatty] = [randomUUID(), randomUUID()];
  const bringBack = await takeTableAway();
  for (let at = 0; at < 50; at++) recorder.add(row(quiet));
  for (let at = 0; at < 21_000; at++) recorder.add(row(chatty));
  await turn();
  await until(() => recorder.counters.dropped === 1050);
  await bringBack();
  await recorder.stop();
  expect([await count(quiet), await count(chatty)]).toEqual([50, 19_950]);
});

test("GW-10 what memory has no room for is read from disk again", async () => {
  const recorder = new Recorder({ pool: database.pool, spool: newSpool(), log });
  recorder.start();
  const projectId = randomUUID();
  const bringBack = await takeTableAway();
  for (let at = 0; at < 21_000; at++) recorder.add(row(projectId));
  await turn();
  expect(recorder.held).toBeLessThan(21_000);
  await bringBack();
  await until(async () => (await count(projectId)) === 21_000);
  await recorder.stop();
  expect(await count(projectId)).toBe(21_000);
  expect(recorder.counters.dropped).toBe(0);
});

test("GW-10 a row that the database refuses is put aside and counted; the others are written", async () => {
  const recorder = new Recorder({ pool: database.pool, spool: newSpool(), log });
  const projectId = randomUUID();
  for (let at = 0; at < 20; at++) recorder.add(row(projectId, at === 7 ? { time: Number.NaN } : {}));
  recorder.add(row("no uuid"));
  await recorder.stop();
  expect(await count(projectId)).toBe(19);
  expect(recorder.counters).toMatchObject({ written: 19, refused: 2, dropped: 0 });
});

test("GW-10 rows on disk that are refused for no reason of their own hold up no later ones, and end", async () => {
  const refuses = await refuseTarget("doubtful");
  const directory = join(root, randomUUID());
  const projectId = randomUUID();
  // Two segments of killed processes: the first one holds nothing but such a row.
  for (const target of ["doubtful", "fine"]) {
    const killed = new Recorder({ pool: database.pool, spool: new Spool(directory), log });
    killed.add(row(projectId, { target }));
    await turn();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const recorder = new Recorder({ pool: database.pool, spool: new Spool(directory), log });
  recorder.start();
  await until(async () => (await count(projectId)) === 1);
  await until(() => recorder.counters.refused === 1);
  expect(await readdir(directory)).toEqual([]);
  await refuses.end();
  await recorder.stop();
});

/** Makes the table refuse rows with this target by an error that blames neither them nor the database. */
async function refuseTarget(target: string): Promise<{ end: () => Promise<unknown> }> {
  await database.pool.query(`
    CREATE FUNCTION refuse_target() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.target = '${target}' THEN RAISE 'internal' USING ERRCODE = 'XX000'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON request_log FOR EACH ROW EXECUTE FUNCTION refuse_target()`);
  return { end: () => database.pool.query("DROP FUNCTION refuse_target CASCADE") };
}

test("GW-7 a row is bounded before it is held, whatever a client calls itself", async () => {
  const spool = newSpool();
  const recorder = new Recorder({ pool: database.pool, spool, log });
  const projectId = randomUUID();
  const long = "é".repeat(1024 * 1024);
  recorder.add(row(projectId, { target: long, clientName: long, errorMessage: long, method: long, principal: long }));
  await turn();
  expect(spool.bytes).toBeLessThan(10_000);
  await recorder.stop();
  const [entry] = (await queryRequestLogs(database.pool, { projectId })).data;
  expect(entry?.target).toBe(`${"é".repeat(1023)}…`);
});
