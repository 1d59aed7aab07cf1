import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processOf, type RoleName, runningProcessOf } from "../../instance/processes.ts";
import type { Rig } from "../rig.ts";
import type { Row } from "../row.ts";
import { answersNow, rowOf, timeUntil, underLoad } from "../under-load.ts";

/** `shim`: the parent of all servers, which end with it. */
export type Victim = RoleName | "postgres" | "shim";

/** Only a kill of the shim makes calls wait for a start; clients notice a stream that broke with the gateway only by this timeout. */
const callTimeoutMs = 20_000;
/** Between two kills, so that a kill hits something that runs. */
const pauseMs = 1_500;
/** The duration of a start depends on the machine; that it isn't delayed does not. */
const gatewayBackWithinMs = 30_000;
const clientsPerEra = 4;

/** Repeated kill -9 of one process while clients call. */
export async function killProcess(rig: Rig, victim: Victim): Promise<Row> {
  const load = await underLoad(
    rig,
    `kill-${victim}`,
    async () => {
      const recoveries: number[] = [];
      for (let kill = 0; kill < rig.times; kill++) {
        recoveries.push(await killOnce(rig, victim));
        await sleep(pauseMs);
      }
      return recoveries;
    },
    { callTimeoutMs, clientsPerEra },
  );
  const recoveryMs = load.result;
  const backInTime = {
    [`a gateway is back within ${gatewayBackWithinMs} ms, every time`]: Math.max(...recoveryMs) <= gatewayBackWithinMs,
  };
  return rowOf(load, {
    scenario: `kill -9 ${victim}`,
    times: rig.times,
    recoveryMs,
    // Calls fail while there is no gateway.
    ...(victim === "gateway" && { claims: () => backInTime }),
    // The call that is under way, or the first one of a session that has ended with its server.
    ...(victim === "shim" && {
      claims: ({ failed }) => ({ "a kill costs a client one call at most": failed <= rig.times * 2 * clientsPerEra }),
    }),
  });
}

async function killOnce(rig: Rig, victim: Victim): Promise<number> {
  const pid = victim === "shim" ? await shimOf(rig) : runningProcessOf(rig.dataDirectory, victim);
  const starts = await workerStarts(rig);
  process.kill(pid, "SIGKILL");
  return timeUntil(victim, async () =>
    victim === "worker" ? (await workerStarts(rig)) > starts : isBack(rig, victim, pid),
  );
}

const shimOf = async ({ dataDirectory }: Rig): Promise<number> =>
  Number((await readFile(join(dataDirectory, "run", "shim.sock.owner"), "utf8")).split("-")[0]);

/** How often the worker has logged that it takes jobs: it has no address to poll. */
export async function workerStarts(rig: Rig): Promise<number> {
  const log = await readFile(join(rig.dataDirectory, "logs", "worker.log"), "utf8");
  return log.split('"msg":"ready"').length - 1;
}

/** Whether the role works again: a call, a page, a query. `killed`: the process that must not be the current one. */
export async function isBack(rig: Rig, victim: Victim, killed: number | null): Promise<boolean> {
  const pid = victim === "shim" ? await shimOf(rig) : processOf(rig.dataDirectory, victim);
  if (pid === null || pid === killed) return false;
  if (victim === "web") return (await fetch(`${rig.url}/healthz`)).ok;
  // Servers answer without a runner, but the next kill must hit a runner that has adopted them.
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
