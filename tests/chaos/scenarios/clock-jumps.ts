import { setTimeout as sleep } from "node:timers/promises";
import { processOf } from "../../instance/processes.ts";
import type { Rig } from "../rig.ts";
import { problemsOf, type Row, skipped } from "../row.ts";
import { answersNow, errorsInWords, timeUntil, underLoad } from "../under-load.ts";

const scenario = "clock jumps";
const hour = 3_600;
const jumps = [hour, 0, -hour, 0];
const betweenMs = 8_000;

/** Ends roles so that they start with the clock that is in force now. */
async function restartRoles(rig: Rig): Promise<void> {
  for (const role of ["worker", "runner", "gateway"] as const) {
    const pid = processOf(rig.dataDirectory, role);
    if (pid !== null) process.kill(pid, "SIGTERM");
    await timeUntil(role, async () => ![null, pid].includes(processOf(rig.dataDirectory, role)));
  }
  for (const server of rig.servers) await timeUntil(server, () => answersNow(rig, server));
}

/** Gateway, runner and worker see the time jump by an hour, forth and back, as after a correction or a pause. */
export async function clockJumps(rig: Rig): Promise<Row> {
  const { clock } = rig;
  if (clock === null) return skipped(scenario, "the Debian package libfaketime is not installed");
  await clock.install();
  try {
    await restartRoles(rig);
    const { totals, lost, clientName } = await underLoad(rig, "clock-jumps", async () => {
      for (const seconds of jumps) {
        await clock.set(seconds);
        await sleep(betweenMs);
      }
    });
    const { calls, failed } = totals;
    const early =
      "SELECT count(*)::int AS n FROM request_log WHERE client_name = $1 AND time > now() + interval '30 min'";
    const { rows } = await rig.database.query(early, [clientName]);
    return {
      scenario,
      times: jumps.length,
      calls,
      failed,
      lost,
      recoveryMs: [],
      problems: problemsOf({
        "the clock jumped at all": rows[0].n > 0,
        "calls do not notice": failed === 0,
        "no answered call is missing from the log": lost <= 0,
      }),
      note: errorsInWords(totals),
    };
  } finally {
    await clock.remove();
    await restartRoles(rig);
  }
}
