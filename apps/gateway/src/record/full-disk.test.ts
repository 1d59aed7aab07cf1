import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase } from "@towpath/db/testing";
import type { RequestLogRow } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import pg from "pg";
import pino from "pino";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { segmentsIn, until } from "../testing/rig.ts";
import { Recorder } from "./recorder.ts";
import { newRequestId } from "./request-id.ts";
import { Spool } from "./spool.ts";

// A separate real file system, which fills up: only root may mount one.
const isRoot = process.getuid?.() === 0;
let disk = "";
const database = openTestDatabase({ fresh: true });
const noDatabase = new pg.Pool({ connectionString: "postgresql://127.0.0.1:1/none" });

beforeEach(async () => {
  if (!isRoot) return;
  disk = await mkdtemp(join(tmpdir(), "tp-disk-"));
  execFileSync("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=80m", "tmpfs", disk]);
});
afterEach(async () => {
  if (!isRoot) return;
  execFileSync("/usr/bin/umount", ["--lazy", disk]);
  await rm(disk, { recursive: true });
});

afterAll(() => noDatabase.end());

/** Fills the disk to its last byte. */
function fill(): void {
  const file = openSync(join(disk, `fill-${randomUUID()}`), "w");
  try {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
      try {
        for (;;) if (writeSync(file, Buffer.alloc(size)) < size) break;
      } catch {
        // Less fits.
      }
    }
  } finally {
    closeSync(file);
  }
}

function row(projectId: string, bytes = 0): RequestLogRow {
  const time = Date.now();
  return requestLogRow({ id: newRequestId(time), time, projectId, requestPayload: "x".repeat(bytes) });
}
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const stored = async (projectId: string) => {
  const { rows } = await database.pool.query("SELECT id FROM request_log WHERE project_id = $1", [projectId]);
  return rows.map(({ id }) => id as string);
};

test.runIf(isRoot)(
  "GW-10 RUN-8 on a full disk and without the database, rows go to the reserve, and none of those is lost",
  async () => {
    const root = join(disk, "spool");
    const lines: string[] = [];
    const log = pino({ level: "error" }, { write: (line: string) => lines.push(line) });
    const recorder = new Recorder({ pool: noDatabase, spool: await Spool.open(root), log });
    const projectId = randomUUID();
    recorder.add(row(projectId));
    await turn();
    fill();
    expect((await statfs(disk)).bavail).toBe(0);
    const ids: string[] = [];
    for (let at = 0; at < 300; at++) {
      const each = row(projectId, 4096);
      ids.push(each.id);
      recorder.add(each);
      if (at % 20 === 0) await turn();
    }
    await turn();
    expect(recorder.counters).toMatchObject({ spooled: 301, dropped: 0 });
    // As if it were killed: the next process reads the reserve, with zeros after the rows.
    for (const name of await readdir(root)) if (name.endsWith(".sock")) await rm(join(root, name));
    const next = new Recorder({ pool: database.pool, spool: await Spool.open(root), log });
    next.start();
    await until(async () => (await stored(projectId)).length === 301, 20_000);
    expect(await stored(projectId)).toEqual(expect.arrayContaining(ids));
    await until(async () => (await segmentsIn(root)).length === 0);
    await next.stop();
    await recorder.stop();
    expect(lines).toEqual([]);
  },
  60_000,
);

test.runIf(isRoot)(
  "GW-10 rows that neither the database nor the full disk can take are named when the process ends, in time",
  async () => {
    const lines: { readonly msg: string }[] = [];
    const log = pino({ level: "error" }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const recorder = new Recorder({ pool: noDatabase, spool: await Spool.open(join(disk, "spool")), log });
    fill();
    const [kept, lost] = [randomUUID(), randomUUID()];
    // The reserve is 4 MiB.
    for (let at = 0; at < 60; at++) {
      recorder.add(row(kept, 60_000));
      await turn();
    }
    const rows = Array.from({ length: 40 }, () => row(lost, 60_000));
    for (const each of rows) {
      recorder.add(each);
      await turn();
    }
    const begun = performance.now();
    await recorder.stop();
    expect(performance.now() - begun).toBeLessThan(3000);
    const text = lines.map(({ msg }) => msg).find((msg) => msg.includes("could not be stored")) ?? "";
    expect(text).toContain(`of project ${lost}`);
    expect(text).not.toContain(kept);
    expect(text).toContain(rows.at(-1)?.id);
    expect(recorder.counters.dropped).toBe(Number(/^\d+/.exec(text)?.[0]));
    expect(recorder.counters.dropped + recorder.counters.spooled).toBe(100);
  },
  60_000,
);

test.runIf(isRoot)(
  "GW-10 a reserve that was used is made again once the disk has room, and ends with its process",
  async () => {
    const root = join(disk, "spool");
    const spool = await Spool.open(root);
    const names = async () => (await readdir(root, { recursive: true })).filter((name) => name.endsWith("reserve"));
    expect(await names()).toHaveLength(1);
    fill();
    expect(spool.append([{ row: { projectId: "p" }, bytes: 2 }], "1\n")).not.toBeNull();
    expect(await names()).toEqual([]);
    await spool.adopt();
    expect(await names()).toEqual([]);
    for (const name of await readdir(disk)) if (name.startsWith("fill-")) await rm(join(disk, name));
    await spool.adopt();
    expect(await names()).toHaveLength(1);
    await spool.close();
    expect(await names()).toEqual([]);
  },
);
