import { writeFile } from "node:fs/promises";
import type { Limits } from "../port.ts";
import type { LimitEvents } from "../process/running-process.ts";
import { exists, killFolders, makeFolder, read, removeFolder, write } from "./cgroup-files.ts";
import type { CgroupLayout } from "./cgroup-layout.ts";

const cpuPeriodMicroseconds = 100_000;
/** Version 1: TCP's buffers get this part of the memory limit, in addition to it. */
const tcpShare = 8;

export type LimitName = "memory" | "processes" | "cpu";

/** The control groups of one sandbox. */
export type Cgroup = {
  readonly memory: boolean;
  readonly processes: boolean;
  readonly cpu: boolean;
  readonly canFreeze: boolean;
  add(pid: number): Promise<void>;
  freeze(): Promise<boolean>;
  thaw(): Promise<void>;
  /** Kills what is inside, also when it is frozen. */
  kill(): Promise<void>;
  limitEvents(): Promise<LimitEvents>;
  memoryBytes(): Promise<number | null>;
  /** After the last process has ended. */
  remove(): Promise<void>;
};

/** Makes the groups and sets the limits. A limit that the host cannot set is left out; `memory`, `processes` and `cpu` say so. */
export async function createCgroup(layout: CgroupLayout, name: string, limits: Limits): Promise<Cgroup> {
  const below = (parent: string | null) => (parent === null ? null : makeFolder(`${parent}/${name}`));
  const unified = await below(layout.v2?.path ?? null);
  const offers = (controller: string) => unified !== null && layout.v2?.controllers.includes(controller) === true;
  const memory = offers("memory") ? null : await below(layout.v1.memory);
  const pids = offers("pids") ? null : await below(layout.v1.pids);
  const cpu = offers("cpu") ? null : await below(layout.v1.cpu);
  const canFreezeV2 = unified !== null && (await exists(`${unified}/cgroup.freeze`));
  const freezer = canFreezeV2 ? null : await below(layout.v1Freezer);
  const quota = String(Math.max(1000, Math.round(limits.cpus * cpuPeriodMicroseconds)));

  const hasMemory = await setMemory(offers("memory") ? unified : null, memory, limits.memoryBytes);
  const pidsFolder = offers("pids") ? unified : pids;
  const hasPids = pidsFolder !== null && (await write(`${pidsFolder}/pids.max`, String(limits.processes)));
  const cpuFolder = offers("cpu") ? unified : cpu;
  const hasCpu = offers("cpu")
    ? await write(`${unified}/cpu.max`, `${quota} ${cpuPeriodMicroseconds}`)
    : cpu !== null && (await write(`${cpu}/cpu.cfs_quota_us`, quota));

  const folders = [unified, memory, pids, cpu, freezer].filter((path) => path !== null);
  return {
    memory: hasMemory,
    processes: hasPids,
    cpu: hasCpu,
    canFreeze: canFreezeV2 || freezer !== null,
    async add(pid) {
      for (const path of folders) await writeFile(`${path}/cgroup.procs`, String(pid));
    },
    freeze: () =>
      canFreezeV2
        ? setAndWait(`${unified}/cgroup.freeze`, "1", `${unified}/cgroup.events`, "frozen 1")
        : setAndWait(`${freezer}/freezer.state`, "FROZEN", `${freezer}/freezer.state`, "FROZEN"),
    async thaw() {
      if (canFreezeV2) await write(`${unified}/cgroup.freeze`, "0");
      else if (freezer !== null) await write(`${freezer}/freezer.state`, "THAWED");
    },
    kill: () => killFolders(folders),
    async limitEvents() {
      const events = offers("memory") ? `${unified}/memory.events` : memory && `${memory}/memory.oom_control`;
      return {
        outOfMemory: await countIn(hasMemory ? events : null, "oom_kill"),
        refusedProcesses: await countIn(hasPids ? `${pidsFolder}/pids.events` : null, "max"),
        throttledPeriods: await countIn(hasCpu ? `${cpuFolder}/cpu.stat` : null, "nr_throttled"),
      };
    },
    async memoryBytes() {
      const folder = offers("memory") ? unified : memory;
      const text =
        folder === null ? "" : await read(`${folder}/${offers("memory") ? "memory.current" : "memory.usage_in_bytes"}`);
      if (text === "") return null;
      // Files that were read once count as used, but the kernel drops them when it needs the memory.
      const stat = await read(`${folder}/memory.stat`);
      // v1 names it with what is below the group first.
      const cache = /^total_inactive_file (\d+)$/m.exec(stat) ?? /^inactive_file (\d+)$/m.exec(stat);
      return Math.max(0, Number(text) - Number(cache?.[1] ?? 0));
    },
    async remove() {
      for (const path of folders) await removeFolder(path);
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
  const set = await write(`${v1}/memory.limit_in_bytes`, String(bytes));
  // Where swap is accounted, memory and swap together get the same limit;
  // else nothing of the sandbox is swapped out, or it could have more than its limit.
  if (!(await write(`${v1}/memory.memsw.limit_in_bytes`, String(bytes)))) await write(`${v1}/memory.swappiness`, "0");
  // Version 1 counts TCP's buffers apart. Version 2 counts them with the rest.
  await write(`${v1}/memory.kmem.tcp.limit_in_bytes`, String(Math.floor(bytes / tcpShare)));
  return set;
}

async function setAndWait(file: string, value: string, watch: string, expected: string): Promise<boolean> {
  const deadline = performance.now() + 2000;
  while (performance.now() < deadline) {
    // The v1 freezer can stay FREEZING until it is told again.
    if (!(await write(file, value))) return false;
    if ((await read(watch)).includes(expected)) return true;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return false;
}
