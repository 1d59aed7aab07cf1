import { setTimeout as sleep } from "node:timers/promises";
import { processOf } from "../../instance/processes.ts";
import type { LoadTotals } from "../load.ts";
import type { Rig } from "../rig.ts";
import { type Row, skipped } from "../row.ts";
import { answersNow, noFailures, rowOf, timeUntil, underLoad } from "../under-load.ts";

const scenario = "clock jumps";
const hour = 3_600;
const jumps = [hour, 0, -hour, 0];
const betweenMs = 8_000;

/** Restarts the roles, so that they get the clock that is installed now. */
async function restartRoles(rig: Rig): Promise<void> {
  for (const role of ["worker", "runner", "gateway"] as const) {
    const pid = processOf(rig.dataDirectory, role);
    if (pid !== null) process.kill(pid, "SIGTERM");
    await timeUntil(role, async () => ![null, pid].includes(processOf(rig.dataDirectory, role)));
  }
  for (const server of rig.servers) await timeUntil(server, () => answersNow(rig, server));
}

/** Gateway, runner and worker see the time jump by an hour, forward and back, as after a correction or a suspend. */
export async function clockJumps(rig: Rig): Promise<Row> {
  const { clock } = rig;
  if (clock === null) return skipped(scenario, "the Debian package libfaketime is not installed");
  await clock.install();
  try {
    await restartRoles(rig);
    const load = await underLoad(rig, "clock-jumps", async () => {
      for (const seconds of jumps) {
        await clock.set(seconds);
        await sleep(betweenMs);
      }
    });
    const early =
      "SELECT count(*)::int AS n FROM request_log WHERE client_name = $1 AND time > now() + interval '30 min'";
    const { rows } = await rig.database.query(early, [load.clientName]);
    const claims = (totals: LoadTotals) => ({ "the clock jumped": rows[0].n > 0, ...noFailures(totals) });
    return rowOf(load, { scenario, times: jumps.length, claims });
  } finally {
    await clock.remove();
    await restartRoles(rig);
  }
}
