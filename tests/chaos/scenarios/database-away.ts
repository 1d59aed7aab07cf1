import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { processOf } from "../../instance/processes.ts";
import type { Rig } from "../rig.ts";
import type { Row } from "../row.ts";
import { rowOf, timeUntil, underLoad } from "../under-load.ts";

const awayMs = 60_000;

/** The server and its own children, which serve the connections. */
function treeOf(pid: number): number[] {
  const parentOf = (each: string) => {
    try {
      const text = readFileSync(`/proc/${each}/stat`, "utf8");
      return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
    } catch {
      return null;
    }
  };
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return [pid, ...children.map(Number)];
}

/** PostgreSQL neither answers nor refuses for a minute: the worst way to be away. */
export async function databaseAway(rig: Rig): Promise<Row> {
  const load = await underLoad(rig, "database-away", async () => {
    const stopped = treeOf(processOf(rig.dataDirectory, "postgres") ?? 0);
    for (const pid of stopped) process.kill(pid, "SIGSTOP");
    await sleep(awayMs);
    for (const pid of stopped) process.kill(pid, "SIGCONT");
    return timeUntil("PostgreSQL", async () => (await rig.database.query("SELECT 1")).rowCount === 1);
  });
  return rowOf(load, { scenario: `database away for ${awayMs / 1000} s`, times: 1, recoveryMs: [load.result] });
}
