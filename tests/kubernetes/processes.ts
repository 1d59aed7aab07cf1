import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export type ProcessGroup = {
  /** Writes its output to `NAME.log`, and its process id to `NAME.pid`. */
  start(name: string, program: string, argv: readonly string[]): void;
  /** Describes the first process that has ended by itself. */
  ended(): Promise<string | null>;
  /** Ends one process and waits for it. */
  end(name: string, signal?: NodeJS.Signals): Promise<void>;
  /** Ends all, the last one first. */
  stop(): Promise<void>;
};

export function processGroup(directory: string): ProcessGroup {
  const children = new Map<string, ChildProcess>();
  const ended = new Set<string>();
  const end = async (name: string, signal: NodeJS.Signals = "SIGTERM") => {
    const child = children.get(name);
    children.delete(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await closed;
    clearTimeout(late);
  };
  return {
    start: (name, program, argv) => {
      const log = openSync(join(directory, `${name}.log`), "a");
      // It ends with this process, also when that is killed.
      const tied = ["--pdeathsig", "KILL", "--", program, ...argv];
      const child = spawn("setpriv", tied, { stdio: ["ignore", log, log] });
      closeSync(log);
      writeFileSync(join(directory, `${name}.pid`), String(child.pid));
      children.set(name, child);
      child.on("error", () => ended.add(name));
      child.on("exit", () => children.get(name) === child && ended.add(name));
    },
    ended: async () => {
      const [name] = ended;
      if (name === undefined) return null;
      const log = await readFile(join(directory, `${name}.log`), "utf8");
      return `${name} has ended:\n${log.slice(-2000)}`;
    },
    end,
    stop: async () => {
      for (const name of [...children.keys()].toReversed()) await end(name);
    },
  };
}

/** Polls until `isReady`, which may reject meanwhile. Fails after two minutes, or when a process ends. */
export async function until(
  what: string,
  isReady: () => Promise<boolean>,
  processes: Pick<ProcessGroup, "ended">,
  withinMs = 120_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      if (await isReady()) return;
    } catch (error) {
      last = error;
    }
    const problem = await processes.ended();
    if (problem !== null) throw new Error(problem);
    if (Date.now() > deadline) throw new Error(`${what} is not ready after ${withinMs / 1000} s: ${last}`);
    await sleep(100);
  }
}
