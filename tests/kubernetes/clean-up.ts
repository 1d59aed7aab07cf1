import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Ends the processes that hold containers, which outlive their containerd. `socket`: its path. */
export async function endShims(socket: string): Promise<void> {
  for (;;) {
    const shims: number[] = [];
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      const argv = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
      if (argv[0]?.endsWith("/containerd-shim-runc-v2") && argv.includes(socket)) shims.push(Number(pid));
    }
    if (shims.length === 0) return;
    for (const pid of shims) endProcess(pid);
    await sleep(50);
  }
}

export function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

/** Unmounts everything below a directory, so that it can be removed. */
export async function unmountBelow(directory: string): Promise<void> {
  const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").map((line) => line.split(" ")[1] ?? "");
  for (const path of mounts.filter((each) => each.startsWith(`${directory}/`)).toReversed())
    await run("umount", ["--lazy", path]);
}
