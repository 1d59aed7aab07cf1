import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stopLimits } from "@towpath/role";
import { step } from "../terminal/terminal.ts";
import type { UpOptions } from "./options.ts";
import { roleEntries } from "./role-process.ts";

type Place = Pick<UpOptions, "dataDirectory" | "runDirectory">;
type Process = { readonly pid: number; readonly parent: number; readonly command: string; readonly env: string[] };

const launcherEntry = "/apps/cli/src/main.ts";

/** Null: it has ended, or is another user's. */
async function readProcess(pid: number): Promise<Process | null> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8");
  try {
    const [stat, command, env] = await Promise.all([read("stat"), read("cmdline"), read("environ")]);
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? null : { pid, parent: Number(parent), command, env: env.split("\0") };
  } catch {
    return null;
  }
}

/**
 * Processes of roles on this data directory whose launcher has ended, and the gateway's workers below them. Those that
 * another supervisor started have no channel to it.
 */
export async function formerProcesses({ dataDirectory, runDirectory }: Place): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = new Map(
    (await Promise.all(pids.map(readProcess))).flatMap((found) => (found ? [[found.pid, found]] : [])),
  );
  const isOwn = ({ command, env }: Process) =>
    env.some((variable) => variable.startsWith("NODE_CHANNEL_FD=")) &&
    (command.includes(join(runDirectory, "Caddyfile")) ||
      (env.includes(`TOWPATH_DATA_DIR=${dataDirectory}`) && roleEntries.some((entry) => command.includes(entry))));
  const isLeft = (each: Process): boolean => {
    const parent = all.get(each.parent);
    if (parent === undefined) return true;
    return isOwn(parent) ? isLeft(parent) : !parent.command.includes(launcherEntry);
  };
  return [...all.values()].filter((each) => isOwn(each) && isLeft(each)).map(({ pid }) => pid);
}

/**
 * Ends what a killed launcher has left, so that ports, sockets and servers are free. The kernel has asked each process to
 * stop; one that doesn't in time is killed. Says how many there were.
 */
export async function endFormerProcesses(place: Place, killMs: number = stopLimits.killMs): Promise<void> {
  const found = await formerProcesses(place);
  if (found.length === 0) return;
  const count = found.length === 1 ? "1 process" : `${found.length} processes`;
  await step(`The last launcher here was killed: ending what it left (${count})`, async () => {
    const killAt = performance.now() + killMs;
    for (let left = found; left.length > 0; left = await formerProcesses(place)) {
      for (const pid of left) signal(pid, performance.now() < killAt ? "SIGTERM" : "SIGKILL");
      await sleep(100);
    }
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
