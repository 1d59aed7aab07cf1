import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import type { Limits } from "../port.ts";

const cpuPeriodMicroseconds = 100_000;
const parentName = "towpath";
/** Version 1: TCP's buffers get this part of the memory limit, in addition to it. */
const tcpShare = 8;

/** Where this host lets us make control groups. Each is a folder of ours, or null when there is none. */
export type CgroupLayout = {
  readonly version: "v2" | "v1" | "none";
  /** v1: a folder in each controller's tree. */
  readonly v1: { readonly memory: string | null; readonly pids: string | null; readonly cpu: string | null };
  readonly v1Freezer: string | null;
  /** v2 with controllers (`unified`), or at least with the core: freeze and kill need no controller. */
  readonly v2: { readonly path: string; readonly controllers: readonly string[] } | null;
};

export const noCgroups: CgroupLayout = {
  version: "none",
  v1: { memory: null, pids: null, cpu: null },
  v1Freezer: null,
  v2: null,
};

type MountPoint = { readonly path: string; readonly type: string; readonly options: readonly string[] };

/** Mounted control group trees from the text of /proc/self/mounts. */
export function cgroupMounts(mounts: string): MountPoint[] {
  return mounts
    .split("\n")
    .map((line) => line.split(" "))
    .flatMap(([, path, type, options]) =>
      path !== undefined && options !== undefined && (type === "cgroup" || type === "cgroup2")
        ? [{ path, type, options: options.split(",") }]
        : [],
    );
}

async function makeFolder(path: string): Promise<string | null> {
  try {
    await mkdir(path, { recursive: true });
    return path;
  } catch {
    return null;
  }
}

/** Puts our folder below a v2 root and switches on what limits need. In a container the root itself holds processes. */
async function prepareV2(root: string): Promise<CgroupLayout["v2"]> {
  const path = await makeFolder(`${root}/${parentName}`);
  if (path === null) return null;
  const wanted = ["memory", "pids", "cpu"];
  const offered = (await read(`${root}/cgroup.controllers`)).split(/\s+/);
  const enable = wanted.filter((name) => offered.includes(name));
  for (const name of enable) {
    const refused = !(await write(`${root}/cgroup.subtree_control`, `+${name}`));
    // Only a group that is not the machine's own root has a type.
    if (refused && (await exists(`${root}/cgroup.type`))) {
      await leaveRoot(root);
      await write(`${root}/cgroup.subtree_control`, `+${name}`);
    }
    await write(`${path}/cgroup.subtree_control`, `+${name}`);
  }
  const controllers = (await read(`${path}/cgroup.subtree_control`)).split(/\s+/).filter((name) => name !== "");
  return { path, controllers };
}

/** Only a group without processes may hand controllers down (a container's root is such a group, a host's is not). */
async function leaveRoot(root: string): Promise<void> {
  const refuge = await makeFolder(`${root}/${parentName}-platform`);
  if (refuge === null) return;
  for (const pid of (await read(`${root}/cgroup.procs`)).split("\n").filter((line) => line !== ""))
    await write(`${refuge}/cgroup.procs`, pid);
}

/** Looks which trees can be used and makes our folder in each. */
export async function findCgroups(mounts: string): Promise<CgroupLayout> {
  const points = cgroupMounts(mounts);
  const v1 = async (controller: string) => {
    const point = points.find((each) => each.type === "cgroup" && each.options.includes(controller));
    return point === undefined ? null : await makeFolder(`${point.path}/${parentName}`);
  };
  const root2 = points.find((each) => each.type === "cgroup2");
  const v2 = root2 === undefined ? null : await prepareV2(root2.path);
  const layout = { memory: await v1("memory"), pids: await v1("pids"), cpu: await v1("cpu") };
  const hasV2 = v2?.controllers.includes("memory") === true;
  return {
    version: hasV2 ? "v2" : layout.memory !== null ? "v1" : "none",
    v1: layout,
    v1Freezer: await v1("freezer"),
    v2,
  };
}

/** The control groups of one sandbox. */
export type Cgroup = {
  readonly memory: boolean;
  readonly processes: boolean;
  readonly canFreeze: boolean;
  add(pid: number): Promise<void>;
  freeze(): Promise<boolean>;
  thaw(): Promise<void>;
  /** Kills what is inside, also when it is frozen. */
  kill(): Promise<void>;
  /** How often the kernel killed inside for want of memory. */
  outOfMemoryKills(): Promise<number>;
  memoryBytes(): Promise<number | null>;
  /** After the last process has ended. */
  remove(): Promise<void>;
};

/** Makes the groups and sets the limits. A limit that the host cannot set is left out; `memory`, `processes` say so. */
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
  if (offers("cpu")) await write(`${unified}/cpu.max`, `${quota} ${cpuPeriodMicroseconds}`);
  else if (cpu !== null) await write(`${cpu}/cpu.cfs_quota_us`, quota);

  const folders = [unified, memory, pids, cpu, freezer].filter((path) => path !== null);
  return {
    memory: hasMemory,
    processes: hasPids,
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
    async outOfMemoryKills() {
      const text = offers("memory")
        ? await read(`${unified}/memory.events`)
        : memory === null
          ? ""
          : await read(`${memory}/memory.oom_control`);
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
    },
    async memoryBytes() {
      const file = offers("memory") ? `${unified}/memory.current` : memory && `${memory}/memory.usage_in_bytes`;
      const text = file === null ? "" : await read(file);
      return text === "" ? null : Number(text);
    },
    async remove() {
      for (const path of folders) await removeFolder(path);
    },
  };
}

async function setMemory(unified: string | null, v1: string | null, bytes: number): Promise<boolean> {
  if (unified !== null) {
    await write(`${unified}/memory.oom.group`, "1");
    await write(`${unified}/memory.swap.max`, "0");
    return await write(`${unified}/memory.max`, String(bytes));
  }
  if (v1 === null) return false;
  const set = await write(`${v1}/memory.limit_in_bytes`, String(bytes));
  // Where swap is accounted, memory and swap together get the same limit.
  await write(`${v1}/memory.memsw.limit_in_bytes`, String(bytes));
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

async function killFolders(folders: readonly string[]): Promise<void> {
  for (const path of folders) {
    // Frozen processes of the v1 freezer take no signal; v2 kills them as they are.
    await write(`${path}/freezer.state`, "THAWED", true);
    if (await write(`${path}/cgroup.kill`, "1", true)) return;
  }
  for (const path of folders)
    for (const pid of (await read(`${path}/cgroup.procs`)).split("\n").filter((line) => line !== "")) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        // Gone already.
      }
    }
}

async function removeFolder(path: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      // A killed process leaves its group a moment after its parent has been told.
      await new Promise((resolve) => setTimeout(resolve, 5 + attempt));
    }
  }
}

/** Removes groups whose owner (the process in their name, see `ownerName`) no longer runs, and kills what is in them. */
export async function sweepCgroups(
  layout: CgroupLayout,
  ownerRuns: (owner: string) => Promise<boolean>,
): Promise<number> {
  const parents = [layout.v2?.path, layout.v1.memory, layout.v1.pids, layout.v1.cpu, layout.v1Freezer];
  const present = parents.filter((path) => path !== null && path !== undefined);
  const names = new Set<string>();
  for (const parent of present) {
    const entries = await readdir(parent, { withFileTypes: true });
    for (const entry of entries)
      if (entry.isDirectory() && !(await ownerRuns(entry.name.split(".")[0] ?? ""))) names.add(entry.name);
  }
  for (const name of names) {
    const folders = present.map((parent) => `${parent}/${name}`);
    await killFolders(folders);
    for (const path of folders) await removeFolder(path);
  }
  return names.size;
}

async function exists(path: string): Promise<boolean> {
  return (await read(path)) !== "";
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return "";
  }
}

/** False when the file is not there or the kernel refuses the value. */
async function write(path: string, value: string, onlyExisting = false): Promise<boolean> {
  try {
    await writeFile(path, value, { flag: onlyExisting ? "r+" : "w" });
    return true;
  } catch {
    return false;
  }
}
