import { writeFile } from "node:fs/promises";
import type { Limits } from "../../port/execution.ts";
import type { LimitEvents, ProcessUse } from "../process/running-process.ts";
import { exists, killDirectories, makeDirectory, read, removeDirectory, write } from "./cgroup-files.ts";
import type { CgroupLayout } from "./cgroup-layout.ts";

const cpuPeriodMicroseconds = 100_000;
/** Version 1: TCP's buffers get a further limit of the memory limit divided by this. */
const tcpMemoryDivisor = 8;

export type LimitName = "memory" | "processes" | "cpu";

/** The control groups of one sandbox. */
export type Cgroup = {
  /** Limits that the kernel enforces on it. */
  readonly limits: Readonly<Record<LimitName, boolean>>;
  readonly canFreeze: boolean;
  /** See `Restorable.thaw`. */
  readonly thawFiles: readonly (readonly [path: string, value: string])[];
  add(pid: number): Promise<void>;
  /** The files to which a process id is written to add it. */
  readonly members: readonly string[];
  /** Replaces the limits. False if one of them can't be set; memory below what is in use is one such case. */
  limit(limits: Limits): Promise<boolean>;
  freeze(): Promise<boolean>;
  thaw(): Promise<void>;
  isFrozen(): Promise<boolean>;
  /** Kills all its processes, even if they are frozen. */
  kill(): Promise<void>;
  limitEvents(): Promise<LimitEvents>;
  /** See `RunningProcess`. */
  processUse(): Promise<ProcessUse | null>;
  memoryBytes(): Promise<number | null>;
  /** After the last process has ended. */
  remove(): Promise<void>;
};

/** Directories of one sandbox's control groups; null where the host has no such hierarchy. */
type Directories = {
  readonly unified: string | null;
  readonly memory: string | null;
  readonly pids: string | null;
  readonly cpu: string | null;
  readonly freezer: string | null;
  readonly freezesV2: boolean;
  /** Controllers of version 2 that are in `unified`. */
  readonly controllers: readonly string[];
};

async function directoriesOf(
  layout: CgroupLayout,
  name: string,
  make: (path: string) => Promise<string | null>,
): Promise<Directories> {
  const below = (parent: string | null) => (parent === null ? null : make(`${parent}/${name}`));
  const unified = await below(layout.v2?.path ?? null);
  const controllers = unified === null ? [] : (layout.v2?.controllers ?? []);
  const freezesV2 = unified !== null && (await exists(`${unified}/cgroup.freeze`));
  return {
    unified,
    controllers,
    freezesV2,
    memory: controllers.includes("memory") ? null : await below(layout.v1.memory),
    pids: controllers.includes("pids") ? null : await below(layout.v1.pids),
    cpu: controllers.includes("cpu") ? null : await below(layout.v1.cpu),
    freezer: freezesV2 ? null : await below(layout.v1Freezer),
  };
}

/** Creates the groups and sets the limits; `limits` tells which of them the host enforces. */
export async function createCgroup(layout: CgroupLayout, name: string, limits: Limits): Promise<Cgroup> {
  const directories = await directoriesOf(layout, name, makeDirectory);
  return cgroupIn(directories, await setLimits(directories, limits));
}

async function setLimits(directories: Directories, limits: Limits): Promise<Cgroup["limits"]> {
  const { unified, controllers } = directories;
  const quota = String(Math.max(1000, Math.round(limits.cpus * cpuPeriodMicroseconds)));
  const memoryV2 = controllers.includes("memory") ? unified : null;
  const pidsDirectory = controllers.includes("pids") ? unified : directories.pids;
  return {
    memory: await setMemory(memoryV2, directories.memory, limits.memoryBytes),
    processes: pidsDirectory !== null && (await write(`${pidsDirectory}/pids.max`, String(limits.processes))),
    cpu: controllers.includes("cpu")
      ? await write(`${unified}/cpu.max`, `${quota} ${cpuPeriodMicroseconds}`)
      : directories.cpu !== null && (await write(`${directories.cpu}/cpu.cfs_quota_us`, quota)),
  };
}

/** Opens the groups that an earlier runner created. `held`: the limits that it could set. */
export async function openCgroup(layout: CgroupLayout, name: string, held: Cgroup["limits"]): Promise<Cgroup> {
  const present = async (path: string) => ((await exists(`${path}/cgroup.procs`)) ? path : null);
  return cgroupIn(await directoriesOf(layout, name, present), held);
}

function cgroupIn(directories: Directories, limits: Cgroup["limits"]): Cgroup {
  const { unified, controllers, freezer, freezesV2 } = directories;
  const of = (controller: "memory" | "pids" | "cpu") =>
    controllers.includes(controller) ? unified : directories[controller];
  const all = [unified, directories.memory, directories.pids, directories.cpu, freezer].filter((path) => path !== null);
  return {
    limits,
    canFreeze: freezesV2 || freezer !== null,
    thawFiles: freezer === null ? [] : [[`${freezer}/freezer.state`, "THAWED"]],
    members: all.map((path) => `${path}/cgroup.procs`),
    async add(pid) {
      for (const path of all) await writeFile(`${path}/cgroup.procs`, String(pid));
    },
    async limit(changed) {
      const { memory, processes, cpu } = await setLimits(directories, changed);
      return memory && processes && cpu;
    },
    freeze: () =>
      freezesV2
        ? setAndWait(`${unified}/cgroup.freeze`, "1", `${unified}/cgroup.events`, "frozen 1")
        : setAndWait(`${freezer}/freezer.state`, "FROZEN", `${freezer}/freezer.state`, "FROZEN"),
    async thaw() {
      if (freezesV2) await write(`${unified}/cgroup.freeze`, "0");
      else if (freezer !== null) await write(`${freezer}/freezer.state`, "THAWED");
    },
    async isFrozen() {
      if (freezesV2) return (await read(`${unified}/cgroup.freeze`)).trim() === "1";
      return freezer !== null && (await read(`${freezer}/freezer.state`)).trim() !== "THAWED";
    },
    kill: () => killDirectories(all),
    async limitEvents() {
      const memory = of("memory");
      const events = controllers.includes("memory") ? `${memory}/memory.events` : `${memory}/memory.oom_control`;
      return {
        outOfMemory: await countIn(limits.memory ? events : null, "oom_kill"),
        refusedProcesses: await countIn(limits.processes ? `${of("pids")}/pids.events` : null, "max"),
        throttledPeriods: await countIn(limits.cpu ? `${of("cpu")}/cpu.stat` : null, "nr_throttled"),
      };
    },
    async processUse() {
      const directory = limits.processes ? of("pids") : null;
      if (directory === null) return null;
      const [used, limit, refused] = await Promise.all([
        read(`${directory}/pids.current`),
        read(`${directory}/pids.max`),
        countIn(`${directory}/pids.events`, "max"),
      ]);
      return used === "" || refused === null ? null : { used: Number(used), limit: Number(limit), refused };
    },
    async memoryBytes() {
      const directory = of("memory");
      const file = controllers.includes("memory") ? "memory.current" : "memory.usage_in_bytes";
      const text = directory === null ? "" : await read(`${directory}/${file}`);
      if (text === "") return null;
      // Don't count file pages that were read once: the kernel drops them when memory is needed.
      const stat = await read(`${directory}/memory.stat`);
      // On v1, the total includes subgroups.
      const cache = /^total_inactive_file (\d+)$/m.exec(stat) ?? /^inactive_file (\d+)$/m.exec(stat);
      return Math.max(0, Number(text) - Number(cache?.[1] ?? 0));
    },
    async remove() {
      for (const path of all) await removeDirectory(path);
    },
  };
}

/** A counter in one of the kernel's files of "name value" lines; null without a file or a line. */
async function countIn(file: string | null, name: string): Promise<number | null> {
  const text = file === null ? "" : await read(file);
  const value = new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1];
  return value === undefined ? null : Number(value);
}

async function setMemory(unified: string | null, v1: string | null, bytes: number): Promise<boolean> {
  if (unified !== null) {
    await write(`${unified}/memory.oom.group`, "1");
    await write(`${unified}/memory.swap.max`, "0");
    return await write(`${unified}/memory.max`, String(bytes));
  }
  if (v1 === null) return false;
  // It must never be below the other: first when that is raised, last when it is lowered.
  await write(`${v1}/memory.memsw.limit_in_bytes`, String(bytes));
  const set = await write(`${v1}/memory.limit_in_bytes`, String(bytes));
  // If swap is accounted, memory and swap together get the same limit. Else disable swapping, which would exceed it.
  if (!(await write(`${v1}/memory.memsw.limit_in_bytes`, String(bytes)))) await write(`${v1}/memory.swappiness`, "0");
  // Version 1 counts TCP's buffers separately.
  await write(`${v1}/memory.kmem.tcp.limit_in_bytes`, String(Math.floor(bytes / tcpMemoryDivisor)));
  return set;
}

async function setAndWait(file: string, value: string, watch: string, expected: string): Promise<boolean> {
  const deadline = performance.now() + 2000;
  while (performance.now() < deadline) {
    // The v1 freezer can stay FREEZING until the state is written again.
    if (!(await write(file, value))) return false;
    if ((await read(watch)).includes(expected)) return true;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return false;
}
