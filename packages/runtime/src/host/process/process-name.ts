import { readFile, readlink } from "node:fs/promises";
import { ownerName, ownerRuns } from "./tree.ts";

/**
 * Where a process id means the same process: this boot of the machine and this namespace of process ids, which
 * containers have for themselves.
 */
async function place(): Promise<string> {
  const [boot, namespace] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "utf8"),
    readlink("/proc/self/ns/pid"),
  ]);
  return `${boot.trim()} ${namespace}`;
}

/**
 * Names this process in what it leaves behind when it is killed, also where processes of other hosts and containers can
 * see it. Without slashes.
 */
export const processName = async (): Promise<string> => `${await place()} ${await ownerName()}`;

/** Whether the process of a name ran on this host and has ended. False for one elsewhere, of which nothing is known. */
export async function hasEnded(name: string): Promise<boolean> {
  const at = name.lastIndexOf(" ");
  return name.slice(0, at) === (await place()) && !(await ownerRuns(name.slice(at + 1)));
}
