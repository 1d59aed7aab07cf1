import { setTimeout as sleep } from "node:timers/promises";
import { runningProcessOf, treeOf } from "../../instance/processes.ts";
import type { Rig } from "../rig.ts";
import type { Row } from "../row.ts";
import { rowOf, timeUntil, underLoad } from "../under-load.ts";

const hungMs = 60_000;

/** PostgreSQL neither answers nor refuses for a minute: the worst outage. */
export async function databaseHung(rig: Rig): Promise<Row> {
  const load = await underLoad(rig, "database-hung", async () => {
    const stopped = treeOf(runningProcessOf(rig.dataDirectory, "postgres"));
    for (const pid of stopped) process.kill(pid, "SIGSTOP");
    await sleep(hungMs);
    for (const pid of stopped) process.kill(pid, "SIGCONT");
    return timeUntil("PostgreSQL", async () => (await rig.database.query("SELECT 1")).rowCount === 1);
  });
  return rowOf(load, { scenario: `database hung for ${hungMs / 1000} s`, times: 1, recoveryMs: [load.result] });
}
