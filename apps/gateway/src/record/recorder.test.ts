import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase } from "@towpath/db/testing";
import { queryRequestLogs, type RequestLogRow } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import pg from "pg";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { segmentsIn, until } from "../testing/rig.ts";
import { Recorder } from "./recorder.ts";
import { newRequestId } from "./request-id.ts";
import { Spool } from "./spool.ts";

const log = pino({ level: "silent" });
const database = openTestDatabase();
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "tp-rec-"));
});
afterAll(async () => {
  await noDatabase.end();
  await rm(root, { recursive: true });
});

function row(projectId: string, change: Partial<RequestLogRow> = {}): RequestLogRow {
  const time = Date.now();
  return requestLogRow({ id: newRequestId(time), time, projectId, ...change });
}

const count = async (projectId: string) => {
  const { rows } = await database.pool.query("SELECT count(*)::int AS count FROM request_log WHERE project_id = $1", [
    projectId,
  ]);
  return rows[0].count as number;
};
const newSpool = () => Spool.open(join(root, randomUUID()));
/** A recorder that shares the spool's root with others, like another process. */
const recorderIn = async (spoolRoot: string, pool = database.pool) =>
  new Recorder({ pool, spool: await Spool.open(spoolRoot), log });
/** For recorders that can't write their rows themselves: they are on disk only. */
const noDatabase = new pg.Pool({ connectionString: "postgresql://127.0.0.1:1/none" });
/** As if all processes with a directory in this root were killed: their sockets accept no connections any more. */
async function killAll(spoolRoot: string): Promise<void> {
  for (const name of await readdir(spoolRoot)) if (name.endsWith(".sock")) await rm(join(spoolRoot, name));
}
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Makes every write of the request log fail, as without a database, until the result is called. */
async function hideTable(): Promise<() => Promise<unknown>> {
  await database.pool.query("ALTER TABLE request_log RENAME TO request_log_hidden");
  return () => database.pool.query("ALTER TABLE request_log_hidden RENAME TO request_log");
}

test("GW-10 a row is on disk within the turn that ended its call, and removed once it is in the database", async () => {
  const directory = join(root, randomUUID());
  const recorder = await recorderIn(directory);
  const projectId = randomUUID();
  for (let at = 0; at < 40; at++) recorder.add(row(projectId));
  await turn();
  // Not started, not flushed: a process that is killed here leaves the rows to the next one.
  await killAll(directory);
  const afterKill = await recorderIn(directory);
  afterKill.start();
  await until(async () => (await count(projectId)) === 40);
  await until(async () => (await segmentsIn(directory)).length === 0);
  // The killed one, in truth alive, writes them too: nothing is doubled.
  await recorder.stop();
  await afterKill.stop();
  expect(await count(projectId)).toBe(40);
  expect(await readdir(directory)).toEqual([]);
});

test.runIf(isThorough)(
  "GW-10 GW-14 no process takes the segments of a live one, even if it appends late; one of many takes them after its end",
  async () => {
    const directory = join(root, randomUUID());
    const projectId = randomUUID();
    const living = await recorderIn(directory, noDatabase);
    living.add(row(projectId));
    await turn();
    const others = await Promise.all([1, 2, 3].map(() => recorderIn(directory)));
    for (const other of others) other.start();
    await new Promise((resolve) => setTimeout(resolve, 300));
    // After the others have looked: to the same segment, and to one that they have not seen.
    for (let at = 0; at < 2000; at++) {
      living.add(row(projectId));
      if (at % 50 === 0) await turn();
    }
    await turn();
    const [owner = ""] = (await segmentsIn(directory)).map((name) => name.split("/")[0] ?? "");
    await rm(join(directory, `${owner}.sock`));
    // A segment that changes its directory while they are listed can be missed: only its rows prove that it is done.
    await until(async () => (await count(projectId)) >= 2001, 15_000);
    await until(async () => (await segmentsIn(directory)).length === 0);
    expect(await count(projectId)).toBe(2001);
    expect(await readdir(directory)).not.toContain(owner);
    for (const recorder of [living, ...others]) await recorder.stop();
    expect(await readdir(directory)).toEqual([]);
  },
  30_000,
);

test.runIf(isThorough)(
  "GW-10 with a full disk and no database, rows wait in memory",
  async () => {
    const directory = join(root, randomUUID());
    await writeFile(directory, "nothing can be created below a file");
    const spool = await Spool.open(directory);
    const recorder = new Recorder({ pool: database.pool, spool, log });
    recorder.start();
    const projectId = randomUUID();
    const bringBack = await hideTable();
    for (let at = 0; at < 2800; at++) {
      recorder.add(row(projectId));
      if (at % 100 === 0) await turn();
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    await bringBack();
    await until(async () => (await count(projectId)) === 2800);
    expect(recorder.counters).toMatchObject({ dropped: 0, spooled: 0 });
    // As soon as the disk has room, rows are safe again.
    await rm(directory);
    await until(() => {
      recorder.add(row(projectId));
      return recorder.counters.spooled > 0;
    }, 15_000);
    await recorder.stop();
  },
  30_000,
);

test.runIf(isThorough)(
  "GW-10 when disk and memory are full, the chatty project loses rows, and they are counted and named at the end",
  async () => {
    const spool = await Spool.open(join(root, randomUUID()), { maxBytes: 0 });
    const lines: { readonly level: number; readonly msg: string }[] = [];
    const kept = pino({ level: "error" }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const recorder = new Recorder({ pool: database.pool, spool, log: kept });
    const [quiet, chatty] = [randomUUID(), randomUUID()];
    const bringBack = await hideTable();
    for (let at = 0; at < 50; at++) recorder.add(row(quiet));
    for (let at = 0; at < 21_000; at++) recorder.add(row(chatty));
    await turn();
    await until(() => recorder.counters.dropped === 1050);
    await bringBack();
    await until(async () => (await count(chatty)) === 19_950);
    await recorder.stop();
    expect([await count(quiet), await count(chatty)]).toEqual([50, 19_950]);
    expect(lines.at(-1)?.msg).toMatch(/^1050 rows of the request log could not be stored, from .* and others\.$/);
    expect(lines.at(-1)?.msg).toContain(`: 1050 of project ${chatty}. Ids: `);
  },
);

test.runIf(isThorough)("GW-10 rows that memory has no room for are read from disk again", async () => {
  const recorder = new Recorder({ pool: database.pool, spool: await newSpool(), log });
  recorder.start();
  const projectId = randomUUID();
  const bringBack = await hideTable();
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
  const recorder = new Recorder({ pool: database.pool, spool: await newSpool(), log });
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
    const killed = await recorderIn(directory, noDatabase);
    killed.add(row(projectId, { target }));
    await turn();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await killAll(directory);
  const recorder = await recorderIn(directory);
  recorder.start();
  await until(async () => (await count(projectId)) === 1);
  await until(() => recorder.counters.refused === 1);
  await until(async () => (await segmentsIn(directory)).length === 0);
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

test("GW-7 a row is bounded before it is held, even if the client's name is huge", async () => {
  const spool = await newSpool();
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
