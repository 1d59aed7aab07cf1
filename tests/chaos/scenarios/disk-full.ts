import { closeSync, openSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runningProcessOf } from "../../instance/processes.ts";
import type { Rig } from "../rig.ts";
import { type Row, skipped } from "../row.ts";
import { rowOf, underLoad } from "../under-load.ts";

const fullMs = 20_000;
const scenario = "gateway's disk full";

/** Writes until nothing more fits. */
function fill(path: string): void {
  const file = openSync(path, "w");
  for (let chunk = Buffer.alloc(1 << 16); chunk.length > 0; ) {
    try {
      writeSync(file, chunk);
    } catch {
      chunk = chunk.subarray(0, Math.floor(chunk.length / 2));
    }
  }
  closeSync(file);
}

/** The spool has no room, and the database is down for the first half: rows must stay in memory. */
export async function diskFull(rig: Rig): Promise<Row> {
  if (rig.smallDisk === null) return skipped(scenario, "a file system of its own needs root");
  const filler = join(rig.smallDisk, "filler");
  const load = await underLoad(rig, "disk-full", async () => {
    fill(filler);
    const postgres = runningProcessOf(rig.dataDirectory, "postgres");
    process.kill(postgres, "SIGSTOP");
    await sleep(fullMs / 2);
    process.kill(postgres, "SIGCONT");
    await sleep(fullMs / 2);
    await rm(filler);
  });
  return rowOf(load, { scenario, times: 1 });
}
