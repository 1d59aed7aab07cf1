import { setTimeout as sleep } from "node:timers/promises";
import { modernCall } from "../../instance/modern-call.ts";
import { childrenOf, launcherOf, processOf, runningProcessOf, treeOf } from "../../instance/processes.ts";
import { createCallers } from "../callers.ts";
import { endpointOf, privateServer, type Rig } from "../rig.ts";
import type { Row } from "../row.ts";
import { openStandingStreams } from "../streams.ts";
import { rowOf, timeUntil, underLoad } from "../under-load.ts";
import { isBack, workerStarts } from "./kill-process.ts";

const roles = ["web", "worker", "runner"] as const;
/** PostgreSQL's fast shutdown; roles end as for a restart. */
const signalOf = { postgres: "SIGINT", web: "SIGTERM", worker: "SIGTERM", runner: "SIGTERM" } as const;
const backWithinMs = 60_000;
/** No call waits for a start here. */
const callTimeoutMs = 20_000;

export type IndependenceOptions = {
  /** `stopped`: the processes end and nobody starts them. `hung`: they exist but do nothing. */
  readonly how: "stopped" | "hung";
  readonly forMs: number;
  /** One of the gateway's processes is killed in the middle. */
  readonly killsGateway?: boolean;
};

/** Stops or hangs PostgreSQL, web, worker and runner. Returns a function that brings them back. */
async function takeDown(rig: Rig, how: IndependenceOptions["how"]): Promise<() => void> {
  const launcher = launcherOf(rig.dataDirectory);
  const pids = (["postgres", ...roles] as const).map((name) => [name, processOf(rig.dataDirectory, name)] as const);
  if (how === "hung") {
    const all = pids.flatMap(([, pid]) => (pid === null ? [] : treeOf(pid)));
    for (const pid of all) process.kill(pid, "SIGSTOP");
    return () => {
      for (const pid of all) process.kill(pid, "SIGCONT");
    };
  }
  // A launcher that is stopped starts nothing again.
  process.kill(launcher, "SIGSTOP");
  for (const [name, pid] of pids) if (pid !== null) process.kill(pid, signalOf[name]);
  await timeUntil("the end of all", async () => pids.every(([, pid]) => pid === null || hasEnded(launcher, pid)));
  return () => process.kill(launcher, "SIGCONT");
}

/** Zombies count as ended. */
const hasEnded = (launcher: number, pid: number) =>
  !childrenOf(launcher).some((child) => child.pid === pid && child.state !== "Z");

/** The status of a call to the private server. */
async function statusOf(rig: Rig, headers: Readonly<Record<string, string>>): Promise<number> {
  const { headers: own, ...call } = modernCall("echo", { text: "probe" }, "probe");
  const answer = await fetch(endpointOf(rig, privateServer), {
    ...call,
    headers: { ...own, ...headers, connection: "close" },
  });
  await answer.text();
  return answer.status;
}

/** Calls continue while PostgreSQL, web, worker and runner are all down: of known callers, sessions and streams. */
export async function independence(rig: Rig, { how, forMs, killsGateway = false }: IndependenceOptions): Promise<Row> {
  const callers = await createCallers(rig);
  const targets = [...callers.targets, { url: endpointOf(rig, rig.servers[0] ?? ""), tool: "watch" as const }];
  const [key = { url: "" }] = targets;
  const load = await underLoad(
    rig,
    `without-${how}`,
    async () => {
      const streams = await openStandingStreams(targets);
      // The gateway saves its state within a second or two.
      await sleep(3000);
      const starts = await workerStarts(rig);
      const bringBack = await takeDown(rig, how);
      const calls: boolean[] = [];
      const strangers: number[] = [];
      const until = performance.now() + forMs;
      while (performance.now() < until) {
        strangers.push(await statusOf(rig, callers.stranger));
        calls.push((await statusOf(rig, key.headers?.() ?? {})) === 200);
        await sleep(500);
      }
      if (killsGateway) await killWorkers(rig, () => statusOf(rig, key.headers?.() ?? {}));
      const open = streams.open;
      bringBack();
      const backMs = await timeUntil(
        "everything",
        async () =>
          (await isBack(rig, "postgres", null)) &&
          (await isBack(rig, "web", null)) &&
          (await isBack(rig, "runner", null)) &&
          (how === "hung" || (await workerStarts(rig)) > starts),
        300_000,
      );
      // The database knows this caller; the gateway can read it again now.
      await timeUntil("a caller who was never seen", async () => (await statusOf(rig, callers.stranger)) === 200);
      await callers.revokeKey();
      const revokedMs = await timeUntil(
        "the revocation",
        async () => (await statusOf(rig, key.headers?.() ?? {})) === 401,
      );
      return { strangers, calls, open, backMs, revokedMs, revokedAt: performance.now() - revokedMs, streams };
    },
    { targets, clientsPerEra: rig.servers.length + targets.length, callTimeoutMs },
  ).finally(() => callers.stop());
  const { strangers, calls, open, backMs, revokedMs, revokedAt, streams } = load.result;
  const ended = streams.stop();
  return rowOf(load, {
    scenario: `PostgreSQL, web, worker, runner ${how}`,
    times: 1,
    recoveryMs: [backMs],
    claims: ({ failures }) => ({
      // The clients that show the key fail once it is revoked, as they should.
      "no call fails": killsGateway || failures.every(({ to }) => to > revokedAt),
      "new connections are served": calls.every(Boolean) && calls.length > 3,
      "nobody is let in who was not seen before": strangers.every((status) => status === 503),
      "streams stay open": killsGateway || (open === targets.length && ended.every((at) => at > revokedAt)),
      [`everything is back within ${backWithinMs / 1000} s`]: backMs <= backWithinMs,
    }),
    detail: `for ${forMs / 1000} s; ${calls.length} probes; a revocation afterwards took ${Math.round(revokedMs)} ms`,
  });
}

/**
 * Kills the gateway's workers one after another: only files and each other tell their successors who may call. Without
 * any worker their first process ends, and the launcher, which is stopped here, starts another one.
 */
async function killWorkers(rig: Rig, status: () => Promise<number>): Promise<void> {
  const former = childrenOf(runningProcessOf(rig.dataDirectory, "gateway"));
  for (const { pid } of former) {
    process.kill(pid, "SIGKILL");
    await timeUntil("the successor of a killed worker", async () => (await servingWorkers(rig)) === former.length);
    await timeUntil("a call after a worker was killed", async () => (await status()) === 200);
  }
}

async function servingWorkers(rig: Rig): Promise<number> {
  const answer = await fetch(`${rig.serversUrl}/-/healthz`, { headers: { connection: "close" } });
  return ((await answer.json()) as { workers: number }).workers;
}
