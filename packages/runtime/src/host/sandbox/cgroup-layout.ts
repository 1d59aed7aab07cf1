import { access, constants, readdir, readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { exists, killDirectories, makeDirectory, read, removeDirectory, write } from "./cgroup-files.ts";

const parentName = "towpath";
/** The platform's own processes move here, because a group with limited subgroups must not contain processes. */
const refugeName = `${parentName}-platform`;
/** v1: of each process, and of a group that nobody has given another weight. */
const usualCpuShares = 1024;

/** Where this host lets us create control groups: directories of ours, or null. */
export type CgroupLayout = {
  readonly version: "v2" | "v1" | "none";
  /** v1: a directory in each controller's hierarchy. */
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

/** Mounted control group hierarchies, from the text of /proc/self/mounts. */
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

/** Creates our directory below a v2 root and enables the controllers. In a container the root itself has processes. */
async function prepareV2(root: string): Promise<CgroupLayout["v2"]> {
  const path = await makeDirectory(`${root}/${parentName}`);
  if (path === null) return null;
  const offered = (await read(`${root}/cgroup.controllers`)).split(/\s+/);
  const enable = ["memory", "pids", "cpu"].filter((name) => offered.includes(name));
  // The machine's root group has no type file.
  const mayLeave = await exists(`${root}/cgroup.type`);
  for (const name of enable) {
    // Several attempts: a process may fork while it is being moved.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if ((await write(`${root}/cgroup.subtree_control`, `+${name}`)) || !mayLeave) break;
      await leaveRoot(root);
    }
    await write(`${path}/cgroup.subtree_control`, `+${name}`);
  }
  const controllers = (await read(`${path}/cgroup.subtree_control`)).split(/\s+/).filter((name) => name !== "");
  return { path, controllers };
}

/** Moves all processes out of a group: with processes, it can't enable controllers for subgroups. */
async function leaveRoot(root: string): Promise<void> {
  const refuge = await makeDirectory(`${root}/${refugeName}`);
  if (refuge === null) return;
  // Processes of another namespace are listed as 0, which would move this one.
  for (const pid of (await read(`${root}/cgroup.procs`)).split("\n"))
    if (Number(pid) > 0) await write(`${refuge}/cgroup.procs`, pid);
}

/** Input of findCgroups: the texts of /proc/self/mounts and /proc/self/cgroup. */
export type CgroupFacts = { readonly root: boolean; readonly mounts: string; readonly membership: string };

export async function readCgroupFacts(): Promise<CgroupFacts> {
  const [mounts, membership] = await Promise.all([
    readFile("/proc/self/mounts", "utf8"),
    readFile("/proc/self/cgroup", "utf8"),
  ]);
  return { root: process.getuid?.() === 0, mounts, membership };
}

/**
 * Finds the usable hierarchies and creates our directory in each. Root uses the root of each; others the group of
 * version 2 that they run in, if it was delegated to them (systemd's `Delegate=`).
 */
export async function findCgroups({ root, mounts, membership }: CgroupFacts): Promise<CgroupLayout> {
  const points = cgroupMounts(mounts);
  const root2 = points.find((each) => each.type === "cgroup2")?.path;
  if (!root) {
    const own = root2 === undefined ? null : await delegatedGroup(root2, membership);
    const v2 = own === null ? null : await prepareV2(own);
    return { ...noCgroups, version: v2?.controllers.includes("memory") === true ? "v2" : "none", v2 };
  }
  const v1 = async (controller: string) => {
    const point = points.find((each) => each.type === "cgroup" && each.options.includes(controller));
    return point === undefined ? null : await makeDirectory(`${point.path}/${parentName}`);
  };
  const v2 = root2 === undefined ? null : await prepareV2(root2);
  const layout = { memory: await v1("memory"), pids: await v1("pids"), cpu: await v1("cpu") };
  if (layout.cpu !== null && isInRoot("cpu", membership)) {
    // Each process of the platform weighs as much there as our whole group, which holds all sandboxes. With the weight
    // of one process on each processor, a busy gateway or database takes no more than its share from the servers.
    await write(`${layout.cpu}/cpu.shares`, String(usualCpuShares * availableParallelism()));
  }
  const hasV2 = v2?.controllers.includes("memory") === true;
  return {
    version: hasV2 ? "v2" : layout.memory !== null ? "v1" : "none",
    v1: layout,
    v1Freezer: await v1("freezer"),
    v2,
  };
}

/** Whether this process is in the root group of a controller of version 1. */
function isInRoot(controller: string, membership: string): boolean {
  const groups = membership.split("\n").map((line) => line.split(":"));
  return groups.some(([, names = "", path]) => names.split(",").includes(controller) && path === "/");
}

/** The version 2 group of this process if it may create groups there; else null. */
async function delegatedGroup(mountPoint: string, membership: string): Promise<string | null> {
  const own = /^0::(\/.*)$/m.exec(membership)?.[1];
  if (own === undefined || own.includes("/..")) return null;
  // Another process of the platform may have moved this one already.
  const group = mountPoint + own.replace(new RegExp(`/${refugeName}$`), "").replace(/\/$/, "");
  try {
    await Promise.all(
      [group, `${group}/cgroup.procs`, `${group}/cgroup.subtree_control`].map((path) => access(path, constants.W_OK)),
    );
    return group;
  } catch {
    return null;
  }
}

/** Whether a group or directory is in use, by its owner (see `ownerName`) and its name or path. */
type IsInUse = (owner: string, name: string) => Promise<boolean>;

const parentsOf = ({ v1, v2, v1Freezer }: CgroupLayout): string[] =>
  [v2?.path, v1.memory, v1.pids, v1.cpu, v1Freezer].filter((path) => path !== null && path !== undefined);

/** Names of groups that are not in use. */
export async function unusedCgroups(layout: CgroupLayout, isInUse: IsInUse): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const parent of parentsOf(layout)) {
    const entries = await readdir(parent, { withFileTypes: true });
    for (const { name } of entries.filter((entry) => entry.isDirectory()))
      if (!names.has(name) && !(await isInUse(name.split(".")[0] ?? "", name))) names.add(name);
  }
  return names;
}

/** Kills and removes groups that are not in use. */
export async function sweepCgroups(layout: CgroupLayout, isInUse: IsInUse): Promise<void> {
  for (const name of await unusedCgroups(layout, isInUse)) {
    const directories = parentsOf(layout).map((parent) => `${parent}/${name}`);
    await killDirectories(directories);
    for (const path of directories) await removeDirectory(path);
  }
}
