import { readdir, readFile } from "node:fs/promises";

/** Direct children of a process, from /proc. Empty when it is gone. */
export async function childrenOf(pid: number): Promise<number[]> {
  try {
    const threads = await readdir(`/proc/${pid}/task`);
    const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8")));
    return lists.flatMap((list) =>
      list
        .split(" ")
        .filter((part) => part !== "")
        .map(Number),
    );
  } catch {
    return [];
  }
}

/** A process and everything below it. */
export async function processTree(pid: number): Promise<number[]> {
  const found = [pid];
  for (const each of found) found.push(...(await childrenOf(each)));
  return found;
}

/** Sends a signal; false when the process is gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** When a process started, in clock ticks since boot: with its id it names a process for good. Null when it is gone. */
export async function processStartTime(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces; start time is field 22, the twentieth after it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
