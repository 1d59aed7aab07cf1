import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

const goneWithinMs = 5_000;

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
 * Ends the server processes that a killed PostgreSQL has left behind on a data folder. They hold its shared memory, and
 * no new server starts while one of them is busy; recovery rolls back what they were doing. Does nothing while the
 * folder's own server runs.
 */
export async function endOrphans(dataDirectory: string, program: string): Promise<void> {
  const lock = await readFile(join(dataDirectory, "postmaster.pid"), "utf8").catch(() => "");
  const postmaster = Number(lock.split("\n")[0]);
  if (!Number.isInteger(postmaster) || postmaster < 1) return;
  const [directory, executable] = await Promise.all([realpath(dataDirectory), realpath(program)]);
  const deadline = Date.now() + goneWithinMs;
  for (;;) {
    const left = await processesIn(directory, executable);
    // The process id may belong to another program by now.
    if (left.length === 0 || (isAlive(postmaster) && left.includes(postmaster)) || Date.now() > deadline) return;
    for (const pid of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has just ended.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
