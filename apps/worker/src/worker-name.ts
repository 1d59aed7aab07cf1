import { readFile, readlink } from "node:fs/promises";
import { ownerName, ownerRuns } from "@towpath/runtime";

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

/** Names this process in the builds that it takes, so that the next worker on this host finds out that it has ended. */
export const workerName = async (): Promise<string> => `${await place()} ${await ownerName()}`;

/** Whether the worker of a name ran on this host and has ended. False for one elsewhere: only its heartbeat tells. */
export async function hasEnded(worker: string): Promise<boolean> {
  const at = worker.lastIndexOf(" ");
  return worker.slice(0, at) === (await place()) && !(await ownerRuns(worker.slice(at + 1)));
}
