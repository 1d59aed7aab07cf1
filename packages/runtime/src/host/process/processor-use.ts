import { readdir, readFile } from "node:fs/promises";
import type { LateStart } from "../../port/servers.ts";
import { processTree } from "./tree.ts";

// Read from /proc, because every host has it: control groups of version 1 and 2 count different things, and neither
// counts how long a process was ready to run and had to wait.

/** What a process and all below it have used, those that have ended included. */
export type ProcessorUse = {
  readonly usedMs: number;
  /** By thread, for how long it ran and for how long it was ready to run; empty where the kernel doesn't say. */
  readonly threads: ReadonlyMap<number, { readonly ranMs: number; readonly waitedMs: number }>;
};

export const noUse: ProcessorUse = { usedMs: 0, threads: new Map() };

/** Linux reports ticks to programs as hundredths of a second. */
const tickMs = 10;
const millionth = 1e-6;

export async function processorUse(pid: number): Promise<ProcessorUse> {
  let usedMs = 0;
  const threads = new Map<number, { ranMs: number; waitedMs: number }>();
  for (const each of await processTree(pid)) {
    const stat = await readFile(`/proc/${each}/stat`, "utf8").catch(() => "");
    // Fields 14 to 17: in user mode and in the kernel, and the same of children that have ended.
    const ticks = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15);
    usedMs += ticks.reduce((sum, field) => sum + Number(field), 0) * tickMs;
    for (const thread of await readdir(`/proc/${each}/task`).catch(() => [])) {
      const schedule = await readFile(`/proc/${each}/task/${thread}/schedstat`, "utf8").catch(() => "");
      const [ran = NaN, waited = NaN] = schedule.split(" ").map(Number);
      if (!Number.isNaN(waited)) threads.set(Number(thread), { ranMs: ran * millionth, waitedMs: waited * millionth });
    }
  }
  return { usedMs, threads };
}

type Measured = {
  readonly before: ProcessorUse;
  readonly now: ProcessorUse;
  readonly elapsedMs: number;
  /** With this much processor time, a start that isn't ready doesn't lack any. */
  readonly enoughMs: number;
  /** Whether more processes are ready to run on the host than it has processors for. */
  readonly isHostBusy: boolean;
};

/** What a process did in a period, by its thread that ran or waited for a processor the longest. Pure. */
export function activityOf({ before, now, elapsedMs, enoughMs, isHostBusy }: Measured): LateStart["activity"] {
  const used = now.usedMs - before.usedMs;
  if (used >= enoughMs) return "busy";
  let most = { ranMs: 0, waitedMs: 0 };
  for (const [thread, { ranMs, waitedMs }] of now.threads) {
    const first = before.threads.get(thread) ?? { ranMs: 0, waitedMs: 0 };
    const since = { ranMs: ranMs - first.ranMs, waitedMs: waitedMs - first.waitedMs };
    if (since.ranMs + since.waitedMs > most.ranMs + most.waitedMs) most = since;
  }
  // If the kernel doesn't say, the busy host is to blame for little processor time.
  const isShort = now.threads.size === 0 || (most.waitedMs > most.ranMs && most.ranMs + most.waitedMs >= elapsedMs / 2);
  return isHostBusy && isShort ? "starved" : "waiting";
}
