import { setTimeout as sleep } from "node:timers/promises";
import { childrenOf, processOf } from "../../instance/processes.ts";
import { createCallers } from "../callers.ts";
import type { Interval } from "../load.ts";
import { seededRandom } from "../random.ts";
import { endpointOf, type Rig } from "../rig.ts";
import { quantile, type Row } from "../row.ts";
import { openStandingStreams } from "../streams.ts";
import { rowOf, timeUntil, underLoad } from "../under-load.ts";
import { isBack, workerStarts } from "./kill-process.ts";

const victims = ["gateway", "gateway worker", "runner", "worker", "web"] as const;
type Victim = (typeof victims)[number];

/** Pause after a kill: some hit a process that has just restarted, others one that has run for a while. */
const pauseMs = { min: 100, max: 4000 };
/** Every process is back within this, on a machine that has other things to do, too; the table shows the times. */
const backWithinMs = 45_000;
/** No call waits for a start here. */
const callTimeoutMs = 20_000;
/** A call may end a little after the process that broke it. */
const afterMs = 3000;

/** The process to kill. Of the gateway's workers, either. */
function pidOf(rig: Rig, victim: Victim, random: () => number): number | null {
  if (victim !== "gateway worker") return processOf(rig.dataDirectory, victim);
  const gateway = processOf(rig.dataDirectory, "gateway");
  const workers = gateway === null ? [] : childrenOf(gateway);
  return workers[Math.floor(random() * workers.length)]?.pid ?? gateway;
}

/**
 * kill -9 of gateway, one of its workers, runner, worker and web in random order at random moments, while clients of
 * both eras call with and without credentials, and streams stay open. The same seed gives the same order and pauses.
 */
export async function seededKills(rig: Rig, seed: number): Promise<Row> {
  const random = seededRandom(seed);
  const callers = await createCallers(rig);
  const targets = [...callers.targets, { url: endpointOf(rig, rig.servers[0] ?? ""), tool: "watch" as const }];
  const running = () =>
    rig.database.query("SELECT id FROM instance WHERE state IN ('ready', 'frozen')").then(({ rows }) => rows);
  const recoveries = new Map<Victim, number[]>(victims.map((victim) => [victim, []]));
  /** When calls and streams through the gateway may break. */
  const windows: { from: number; to: number }[] = [];

  const killOnce = async (victim: Victim) => {
    const pid = await waitForPid(rig, victim, random);
    const starts = await workerStarts(rig);
    const window = { from: performance.now(), to: Number.POSITIVE_INFINITY };
    if (victim.startsWith("gateway")) windows.push(window);
    process.kill(pid, "SIGKILL");
    const role = victim === "gateway worker" ? "gateway" : victim;
    const took = await timeUntil(
      victim,
      async () =>
        role === "worker"
          ? (await workerStarts(rig)) > starts
          : isBack(rig, role, victim === "gateway worker" ? null : pid),
      120_000,
    );
    window.to = performance.now() + afterMs;
    recoveries.get(victim)?.push(took);
  };
  const load = await underLoad(
    rig,
    `seed-${seed}`,
    async () => {
      const streams = await openStandingStreams(targets);
      const before = await running();
      for (let kill = 0; kill < rig.times; kill++) {
        await sleep(pauseMs.min + random() * (pauseMs.max - pauseMs.min));
        const victim = victims[Math.floor(random() * victims.length)] ?? "web";
        await killOnce(victim);
        if (victim.startsWith("gateway")) await streams.reopen();
      }
      const kept = new Set((await running()).map(({ id }) => id));
      return { lostServers: before.filter(({ id }) => !kept.has(id)).length, ended: streams.stop() };
    },
    { targets, clientsPerEra: rig.servers.length + targets.length, callTimeoutMs },
  ).finally(() => callers.stop());

  const { lostServers, ended } = load.result;
  const isExplained = (what: Interval) => windows.some(({ from, to }) => what.to >= from && what.from <= to);
  const all = [...recoveries.values()].flat();
  const each = [...recoveries].map(([victim, times]) => {
    const ms = (share: number) => Math.round(quantile(times, share));
    return times.length === 0 ? `${victim} –` : `${victim} ${times.length}× ${ms(0.5)}/${ms(1)} ms`;
  });
  return rowOf(load, {
    scenario: `${rig.times} seeded kills`,
    times: rig.times,
    recoveryMs: all,
    claims: ({ failures }) => ({
      "no running server is lost": lostServers === 0,
      "calls fail only when the gateway is killed": failures.every(isExplained),
      "streams end only when the gateway is killed": ended.every((at) => isExplained({ from: at, to: at })),
      [`everything is back within ${backWithinMs / 1000} s`]: Math.max(...all) <= backWithinMs,
    }),
    detail: `seed ${seed}; median/max: ${each.join(", ")}; ${ended.length} standing streams ended by kills of the gateway`,
  });
}

async function waitForPid(rig: Rig, victim: Victim, random: () => number): Promise<number> {
  let pid: number | null = null;
  await timeUntil(victim, async () => {
    pid = pidOf(rig, victim, random);
    return pid !== null;
  });
  return pid ?? 0;
}
