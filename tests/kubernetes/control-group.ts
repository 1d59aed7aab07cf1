import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess } from "./clean-up.ts";

const root = "/sys/fs/cgroup";

/** The mounted hierarchies: one of version 2, or one for each controller of version 1. */
async function hierarchies(): Promise<string[]> {
  if (existsSync(join(root, "cgroup.procs"))) return [root];
  const directories = (await readdir(root)).map((name) => join(root, name));
  return directories.filter((path) => existsSync(join(path, "cgroup.procs")));
}

/** A control group for all pods of a cluster, so that several can run at once. Resolves to its name. */
export async function createControlGroup(name: string): Promise<string> {
  for (const hierarchy of await hierarchies()) {
    await mkdir(join(hierarchy, name), { recursive: true });
    // Version 1: without them no process can be put there.
    for (const file of ["cpuset.cpus", "cpuset.mems"])
      if (existsSync(join(hierarchy, file)))
        await writeFile(join(hierarchy, name, file), await readFile(join(hierarchy, file)));
    // All pods together would get as much processor time as one process of this machine.
    for (const [file, share] of [
      ["cpu.shares", "4096"],
      ["cpu.weight", "400"],
    ] as const)
      if (existsSync(join(hierarchy, name, file))) await writeFile(join(hierarchy, name, file), share);
  }
  return name;
}

/** Ends what is left in it. */
export async function removeControlGroup(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) await removeTree(join(hierarchy, name));
}

async function removeTree(group: string): Promise<void> {
  const entries = await readdir(group, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(group, entry.name));
  while (existsSync(group)) {
    const pids = (await readFile(join(group, "cgroup.procs"), "utf8")).split("\n").filter(Boolean);
    for (const pid of pids) endProcess(Number(pid));
    // Busy until the kernel has removed the last process.
    await rmdir(group).catch(() => sleep(20));
  }
}

/** Ends all processes in it. */
export async function endProcessesIn(name: string): Promise<void> {
  const endTree = async (group: string): Promise<void> => {
    for (const entry of await readdir(group, { withFileTypes: true }).catch(() => []))
      if (entry.isDirectory()) await endTree(join(group, entry.name));
    const pids = (await readFile(join(group, "cgroup.procs"), "utf8").catch(() => "")).split("\n").filter(Boolean);
    for (const pid of pids) endProcess(Number(pid));
  };
  for (const hierarchy of await hierarchies()) await endTree(join(hierarchy, name));
}
