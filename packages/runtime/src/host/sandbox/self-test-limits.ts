import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Limits } from "../../port/execution.ts";
import type { SandboxSpec } from "../engine.ts";
import type { LimitEvents, Spawner } from "../process/running-process.ts";
import type { LimitName } from "./cgroup.ts";
import type { Check } from "./self-test.ts";

const mebibyte = 1024 * 1024;
const script = "/opt/towpath-probe/limits.sh";
const everyMs = 20;
const giveUpAfterMs = 30_000;

/** Each process of the memory probe stays well below the limit; the four together are far above it. */
const memoryOfEach = 24 * mebibyte;
const roomy: Limits = { memoryBytes: 48 * mebibyte, processes: 64, cpus: 1, tmpBytes: mebibyte };
const processLimit = 16;
/** Far above the limit, because gVisor's own threads are not counted exactly. */
const startedProcesses = 64;
/** So little that it is used up within one period even on a machine whose CPUs fifty others share. */
const cpuLimit = 0.02;

const namesOfChecks = { "memory limit": "memory", "process limit": "processes", "cpu limit": "cpu" } as const;

export const limitNames: readonly string[] = Object.keys(namesOfChecks);

/** The limits that these checks found to be enforced. */
export function enforcedBy(checks: readonly Check[]): LimitName[] {
  const enforced = new Set(checks.filter((check) => check.ok).map((check) => check.name));
  return Object.entries(namesOfChecks).flatMap(([check, limit]) => (enforced.has(check) ? [limit] : []));
}

const nothingCounts = "no control group enforces it";

/**
 * Starts sandboxes that exceed their limits and checks the kernel's counters for whether it enforced them. `required`:
 * without them the host isn't trusted.
 */
export async function probeLimits(spawn: Spawner, required: boolean): Promise<Check[]> {
  const check = (name: string, seen: boolean | null, without: string): Check => ({
    name,
    ok: seen === true,
    required,
    detail: seen === true ? "tried: the kernel enforces it" : seen === null ? nothingCounts : without,
  });
  const [memory, processes, cpu] = await Promise.all([
    provoke(spawn, ["memory", String(memoryOfEach)], roomy, "outOfMemory"),
    provoke(spawn, ["processes", String(startedProcesses)], { ...roomy, processes: processLimit }, "refusedProcesses"),
    provoke(spawn, ["cpu"], { ...roomy, cpus: cpuLimit }, "throttledPeriods"),
  ]);
  return [
    check("memory limit", memory, "processes together got more than the limit"),
    check("process limit", processes, "more processes were started than the limit"),
    check("cpu limit", cpu, "the quota was never applied"),
  ];
}

/** Runs the probe until the event is counted, is known to be uncounted (null), or time is up (false). */
async function provoke(
  spawn: Spawner,
  attack: readonly string[],
  limits: Limits,
  event: keyof LimitEvents,
): Promise<boolean | null> {
  const running = await spawn(probeSpec(attack, limits), { onLine: () => {} });
  let ended = false;
  void running.ended.then(() => {
    ended = true;
  });
  const deadline = performance.now() + giveUpAfterMs;
  let count = (await running.limitEvents())[event];
  while (count === 0 && !ended && performance.now() < deadline) {
    await sleep(everyMs);
    // Null from now on: the sandbox has ended, and its counters are gone.
    count = (await running.limitEvents())[event] ?? 0;
  }
  await running.kill();
  const exit = await running.ended;
  // Killing the processes may end the whole sandbox, and gVisor ends when it is refused one.
  if (event === "outOfMemory" && exit.reason === "out-of-memory") return true;
  if (event === "refusedProcesses" && exit.reason === "process-limit") return true;
  return count === null ? null : count > 0;
}

function probeSpec(attack: readonly string[], limits: Limits): SandboxSpec {
  return {
    argv: ["/bin/sh", script, ...attack],
    env: { PATH: "/usr/bin:/bin" },
    workingDirectory: "/tmp",
    mounts: [
      { host: fileURLToPath(new URL("./self-test-limits.sh", import.meta.url)), inside: script, writable: false },
    ],
    limits,
    network: "none",
  };
}
