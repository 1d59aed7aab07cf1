import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processOf, type RoleName } from "../../instance/processes.ts";
import type { Rig } from "../rig.ts";
import { problemsOf, type Row } from "../row.ts";
import { answersNow, errorsInWords, timeUntil, underLoad } from "../under-load.ts";

export type Victim = Exclude<RoleName, "forge"> | "postgres";

/** Between two kills, so that a kill hits something that runs. */
const pauseMs = 1_500;
const gatewayBackWithinMs = 2_000;
/** kill -9 of one process again and again while clients call. */
export async function killProcess(rig: Rig, victim: Victim): Promise<Row> {
  const {
    result: recoveryMs,
    totals,
    lost,
  } = await underLoad(rig, `kill-${victim}`, async () => {
    const recoveries: number[] = [];
    for (let kill = 0; kill < rig.times; kill++) {
      recoveries.push(await killOnce(rig, victim));
      await sleep(pauseMs);
    }
    return recoveries;
  });
  const { calls, failed } = totals;
  const row = { scenario: `kill -9 ${victim}`, times: rig.times, calls, failed, lost, recoveryMs };
  const problems = problemsOf({ "no answered call is missing from the log": lost <= 0, ...claims(victim, row) });
  return { ...row, problems, note: errorsInWords(totals) };
}

function claims(victim: Victim, { failed, recoveryMs }: Pick<Row, "failed" | "recoveryMs">): Record<string, boolean> {
  const longest = Math.max(...recoveryMs);
  switch (victim) {
    case "gateway":
      return { [`a gateway is back within ${gatewayBackWithinMs} ms, every time`]: longest <= gatewayBackWithinMs };
    default:
      return { "calls do not notice": failed === 0 };
  }
}

async function killOnce(rig: Rig, victim: Victim): Promise<number> {
  const pid = processOf(rig.dataDirectory, victim);
  if (pid === null) throw new Error(`there is no ${victim} to kill`);
  const starts = await workerStarts(rig);
  process.kill(pid, "SIGKILL");
  return timeUntil(victim, async () =>
    victim === "worker" ? (await workerStarts(rig)) > starts : isBack(rig, victim, pid),
  );
}

/** How often the worker has said in its log that it takes jobs: it has no address to ask. */
async function workerStarts(rig: Rig): Promise<number> {
  const log = await readFile(join(rig.dataDirectory, "logs", "worker.log"), "utf8");
  return log.split('"msg":"ready"').length - 1;
}

/** What people would notice of each: a call, a page, a query. */
async function isBack(rig: Rig, victim: Victim, killed: number): Promise<boolean> {
  const pid = processOf(rig.dataDirectory, victim);
  if (pid === null || pid === killed) return false;
  if (victim === "web") return (await fetch(`${rig.url}/healthz`)).ok;
  // Servers answer without it: the next kill must hit a runner that has taken them over.
  if (victim === "runner" && !(await takesRequests(join(rig.dataDirectory, "run", "runner.sock")))) return false;
  if (victim === "postgres") return (await rig.database.query("SELECT 1")).rowCount === 1;
  return answersNow(rig, rig.servers[0] ?? "");
}

function takesRequests(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request({ socketPath, path: "/healthz", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.once("error", () => resolve(false));
    call.end();
  });
}
