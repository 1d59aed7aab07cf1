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

/** Sends a signal to a process, or to a group by its negative id; false when it is gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  // For kill(2) 0 is the caller's own group and -1 everything: never a process that we started.
  if (Math.abs(pid) <= 1) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** PF_EXITING in Linux's include/linux/sched.h: set before the process closes its files. */
const exitingFlag = 0x4;

/** Whether a process exists and has not begun to exit: from then on it answers no requests. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    const fields = await statFields(pid);
    return fields[0] !== "Z" && fields[0] !== "X" && (Number(fields[6]) & exitingFlag) === 0;
  } catch {
    return false;
  }
}

/** Whether a process has ended and not been reaped by its parent. */
async function isZombie(pid: number): Promise<boolean> {
  return (await statFields(pid).catch(() => []))[0] === "Z";
}

/** Whether a process was stopped by SIGSTOP. */
export async function isStopped(pid: number | undefined): Promise<boolean> {
  return pid !== undefined && (await statFields(pid).catch(() => []))[0] === "T";
}

/** The fields of /proc/<pid>/stat from the third one on. */
async function statFields(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may hold spaces.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/**
 * Start time in clock ticks since boot, which with the process id identifies a process uniquely. Null when it is gone.
 */
async function processStartTime(pid: number): Promise<string | null> {
  try {
    // Field 22.
    return (await statFields(pid))[19] ?? null;
  } catch {
    return null;
  }
}

/**
 * Names a process, this one by default, in what survives its kill (control groups, mounts): process id and start time,
 * so that a later process can tell leftovers from what is in use, even if process ids are reused.
 */
export async function ownerName(pid = process.pid): Promise<string> {
  return `${pid}-${await processStartTime(pid)}`;
}

/** Whether the process of such a name still runs; true for names of another form, which are not ours. */
export async function ownerRuns(name: string): Promise<boolean> {
  const parts = /^(\d+)-(\d+)$/.exec(name);
  if (parts === null) return true;
  const pid = Number(parts[1]);
  return (await processStartTime(pid)) === parts[2] && !(await isZombie(pid));
}

const pageBytes = 4096;

/**
 * Memory of a process and its descendants in bytes; null when it is gone. Shared pages are divided among the processes
 * where the kernel reports that (PSS), else counted for each (RSS).
 */
export async function treeMemoryBytes(pid: number): Promise<number | null> {
  const each = await Promise.all((await processTree(pid)).map(memoryBytesOf));
  const known = each.filter((bytes) => bytes !== null);
  return known.length === 0 ? null : known.reduce((sum, bytes) => sum + bytes, 0);
}

async function memoryBytesOf(pid: number): Promise<number | null> {
  try {
    const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
    if (kibibytes !== undefined) return Number(kibibytes) * 1024;
  } catch {
    // Another user's, or gone.
  }
  try {
    const resident = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ")[1];
    return resident === undefined ? null : Number(resident) * pageBytes;
  } catch {
    return null;
  }
}
