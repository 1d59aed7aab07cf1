import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

const timeoutMs = 5_000;
/** The last checkpoint takes as long as the disk needs. */
const stoppingTimeoutMs = 30_000;

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function processesIn(directory: string, program: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const link = (name: string) => readlink(`/proc/${pid}/${name}`).catch(() => null);
    if ((await link("cwd")) === directory && (await link("exe")) === program) found.push(Number(pid));
  }
  return found;
}

/** The process id and state that a directory's postmaster has written to its lock file; null without one. */
async function readLock(dataDirectory: string): Promise<{ readonly pid: number; readonly isStopping: boolean } | null> {
  const lines = (await readFile(join(dataDirectory, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, isStopping: lines[7]?.trim() === "stopping" } : null;
}

/**
 * Waits for the processes of earlier PostgreSQL servers in a data directory. A server that is shutting down, for
 * example because its launcher was killed, ends by itself. The processes of a killed server are killed: they keep its
 * shared memory, and no new server starts while one of them is busy. Recovery rolls back their transactions. Does
 * nothing while the directory's postmaster is running.
 */
export async function endOrphans(dataDirectory: string, program: string): Promise<void> {
  const [directory, executable] = await Promise.all([realpath(dataDirectory), realpath(program)]);
  const begun = Date.now();
  for (;;) {
    const lock = await readLock(dataDirectory);
    if (lock === null) return;
    const left = await processesIn(directory, executable);
    // The postmaster's process id may belong to another program by now.
    const isRunning = isAlive(lock.pid) && left.includes(lock.pid);
    const withinMs = isRunning ? stoppingTimeoutMs : timeoutMs;
    if (left.length === 0 || (isRunning && !lock.isStopping) || Date.now() - begun > withinMs) return;
    if (!isRunning) left.forEach(kill);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}
