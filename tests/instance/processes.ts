import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const entries = {
  web: "apps/web/serve.ts",
  gateway: "apps/gateway/src/main.ts",
  runner: "apps/runner/src/main.ts",
  worker: "apps/worker/src/main.ts",
} as const;
export type RoleName = keyof typeof entries;

const read = (path: string) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** Process id of the launcher of the instance on a data directory. */
export function launcherOf(dataDirectory: string): number {
  return Number(JSON.parse(read(join(dataDirectory, "running.json")) || "{}").pid);
}

/** Children of a process with their command lines and states (`Z`: a zombie). */
export function childrenOf(pid: number): { pid: number; command: string; state: string }[] {
  const found: { pid: number; command: string; state: string }[] = [];
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    const status = read(`/proc/${name}/stat`);
    const [state = "", parent] = status.slice(status.lastIndexOf(")") + 2).split(" ");
    if (Number(parent) !== pid) continue;
    found.push({ pid: Number(name), command: read(`/proc/${name}/cmdline`).replaceAll("\0", " "), state });
  }
  return found;
}

/** A process and its direct children, such as PostgreSQL's backends. */
export const treeOf = (pid: number): number[] => [pid, ...childrenOf(pid).map((child) => child.pid)];

/** Process id of a role of the instance, or of its PostgreSQL; null while it is down. */
export function processOf(dataDirectory: string, name: RoleName | "postgres"): number | null {
  const mark = name === "postgres" ? `-D ${join(dataDirectory, "postgres")}` : entries[name];
  return childrenOf(launcherOf(dataDirectory)).find(({ command }) => command.includes(mark))?.pid ?? null;
}

/** Process id of a role, or of PostgreSQL, to send a signal to. Throws while it is down: 0 would mean the whole run. */
export function runningProcessOf(dataDirectory: string, name: RoleName | "postgres"): number {
  const pid = processOf(dataDirectory, name);
  if (pid === null) throw new Error(`${name} is not running`);
  return pid;
}

/** Connection URL of an instance's embedded PostgreSQL. The data directory's path must be short enough for sockets. */
export const databaseUrlOf = (dataDirectory: string) =>
  `postgresql://towpath@/towpath?host=${encodeURIComponent(join(dataDirectory, "run", "postgres"))}&port=5432`;
