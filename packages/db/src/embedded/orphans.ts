import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

const timeoutMs = 5_000;

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

/**
 * Kills the server processes that a killed PostgreSQL has left behind in a data directory. They keep its shared memory,
 * and no new server starts while one of them is busy. Recovery rolls back their transactions. Does nothing while the
 * directory's postmaster is running.
 */
export async function endOrphans(dataDirectory: string, program: string): Promise<void> {
  const lock = await readFile(join(dataDirectory, "postmaster.pid"), "utf8").catch(() => "");
  const postmaster = Number(lock.split("\n")[0]);
  if (!Number.isInteger(postmaster) || postmaster < 1) return;
  const [directory, executable] = await Promise.all([realpath(dataDirectory), realpath(program)]);
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const left = await processesIn(directory, executable);
    // The postmaster's process id may belong to another program by now.
    if (left.length === 0 || (isAlive(postmaster) && left.includes(postmaster)) || Date.now() > deadline) return;
    for (const pid of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has already ended.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
