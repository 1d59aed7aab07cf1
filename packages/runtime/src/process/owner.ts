import { isZombie, processStartTime } from "./tree.ts";

/**
 * Names a process, this one by default, in what outlives a kill (control groups, mounts): process id and start time, so
 * that a later process can tell leftovers from what is in use, also when process ids repeat.
 */
export async function ownerName(pid = process.pid): Promise<string> {
  return `${pid}-${await processStartTime(pid)}`;
}

/** Whether the process that made such a name still runs. Names that we did not make count as in use. */
export async function ownerRuns(name: string): Promise<boolean> {
  const parts = /^(\d+)-(\d+)$/.exec(name);
  if (parts === null) return true;
  // A zombie has ended; only its parent has not looked yet.
  return (await processStartTime(Number(parts[1]))) === parts[2] && !(await isZombie(Number(parts[1])));
}
