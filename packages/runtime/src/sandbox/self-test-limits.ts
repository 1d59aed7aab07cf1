import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Limits, SandboxSpec } from "../port.ts";
import type { LimitEvents, Spawner } from "../process/running-process.ts";
import type { Check } from "./self-test.ts";

const mebibyte = 1024 * 1024;
const insideProbe = "/opt/towpath-probe";
const everyMs = 20;
const giveUpAfterMs = 15_000;

/** Node reserves address space generously; where there is no cgroup, that is what a limit on memory counts. */
const enoughMemory = 64 * 1024 * mebibyte;
/** Each process of the memory probe stays well below the limit; the four together are far above it. */
const memoryLimit = 192 * mebibyte;
const memoryOfEach = 96 * mebibyte;
const processLimit = 24;

const memoryProbe: Limits = { memoryBytes: memoryLimit, processes: 256, cpus: 1, tmpBytes: mebibyte };
const otherProbe: Limits = { memoryBytes: enoughMemory, processes: processLimit, cpus: 0.3, tmpBytes: mebibyte };

export const limitNames: readonly string[] = ["memory limit", "process limit", "cpu limit"];

const nothingCounts = "no control group enforces it";

/**
 * Starts sandboxes that go over their limits and looks whether the kernel says that it held them. `required`: whether
 * this host counts as trusted only with them.
 */
export async function probeLimits(spawn: Spawner, required: boolean): Promise<Check[]> {
  const check = (name: string, seen: boolean | null, without: string): Check => ({
    name,
    ok: seen === true,
    required,
    detail: seen === true ? "tried: the kernel enforces it" : seen === null ? nothingCounts : without,
  });
  const [memory, others] = await Promise.all([
    provoke(spawn, ["memory", String(memoryOfEach)], memoryProbe, ["outOfMemory"]),
    provoke(spawn, ["processes", String(processLimit)], otherProbe, ["refusedProcesses", "throttledPeriods"]),
  ]);
  return [
    check("memory limit", memory.outOfMemory, "processes together got more than the limit"),
    check("process limit", others.refusedProcesses, "more processes were started than the limit"),
    check("cpu limit", others.throttledPeriods, "the quota was never applied"),
  ];
}

type Seen = Readonly<Record<keyof LimitEvents, boolean | null>>;

/** Runs the probe until every expected event has been counted, or is known not to be, or time is up. */
async function provoke(
  spawn: Spawner,
  attack: readonly string[],
  limits: Limits,
  expected: readonly (keyof LimitEvents)[],
): Promise<Seen> {
  const running = await spawn(probeSpec(attack, limits), { onLine: () => {} });
  let ended = false;
  void running.ended.then(() => {
    ended = true;
  });
  const deadline = performance.now() + giveUpAfterMs;
  const seen: Record<keyof LimitEvents, boolean | null> = {
    outOfMemory: null,
    refusedProcesses: null,
    throttledPeriods: null,
  };
  do {
    const events = await running.limitEvents();
    for (const name of expected) {
      const count = events[name];
      // When the sandbox has ended its counters are gone; what was seen before stays true.
      if (count !== null) seen[name] = seen[name] === true || count > 0;
    }
    if (expected.every((name) => seen[name] !== false)) break;
    await sleep(everyMs);
  } while (!ended && performance.now() < deadline);
  await running.kill();
  const exit = await running.ended;
  // The whole sandbox may end in the same moment as its processes are killed.
  if (exit.reason === "out-of-memory") seen.outOfMemory = true;
  return seen;
}

function probeSpec(attack: readonly string[], limits: Limits): SandboxSpec {
  const mount = (host: string, name: string) => ({ host, inside: `${insideProbe}/${name}`, writable: false });
  return {
    argv: [`${insideProbe}/node`, "--no-warnings", `${insideProbe}/probe.ts`, ...attack],
    env: {},
    workingDirectory: "/tmp",
    mounts: [
      mount(process.execPath, "node"),
      mount(fileURLToPath(new URL("./self-test-limits-probe.ts", import.meta.url)), "probe.ts"),
    ],
    limits,
    network: "none",
  };
}
