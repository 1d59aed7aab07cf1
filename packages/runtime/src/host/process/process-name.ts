import { readlink } from "node:fs/promises";
import { bootId } from "./boot-directory.ts";
import { ownerName, ownerRuns } from "./tree.ts";

/** Where a process id is unique: this boot of the machine, and this namespace of process ids, such as a container's. */
async function place(): Promise<string> {
  const [boot, namespace] = await Promise.all([bootId(), readlink("/proc/self/ns/pid")]);
  return `${boot} ${namespace}`;
}

/** Names this process in its leftovers, which processes of other hosts and containers may see. Without slashes. */
export const processName = async (): Promise<string> => `${await place()} ${await ownerName()}`;

/** Whether the process of a name ran on this host and has ended. False for those of other hosts. */
export async function hasEnded(name: string): Promise<boolean> {
  const at = name.lastIndexOf(" ");
  return name.slice(0, at) === (await place()) && !(await ownerRuns(name.slice(at + 1)));
}
