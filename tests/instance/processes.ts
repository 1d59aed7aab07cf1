import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const entries = {
  web: "apps/web/serve.ts",
  gateway: "apps/gateway/src/main.ts",
  runner: "apps/runner/src/main.ts",
  worker: "apps/worker/src/main.ts",
  forge: "apps/forge/src/main.ts",
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
function launcherOf(dataDirectory: string): number {
  return Number(JSON.parse(read(join(dataDirectory, "running.json")) || "{}").pid);
}

/** Children of a process with their command lines. */
function childrenOf(pid: number): { pid: number; command: string }[] {
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    const status = read(`/proc/${name}/stat`);
    if (Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]) !== pid) continue;
    found.push({ pid: Number(name), command: read(`/proc/${name}/cmdline`).replaceAll("\0", " ") });
  }
  return found;
}

/** Process id of a role of the instance, or of its PostgreSQL; null while it is down. */
export function processOf(dataDirectory: string, name: RoleName | "postgres"): number | null {
  const mark = name === "postgres" ? `-D ${join(dataDirectory, "postgres")}` : entries[name];
  return childrenOf(launcherOf(dataDirectory)).find(({ command }) => command.includes(mark))?.pid ?? null;
}

/** Connection URL of an instance's embedded PostgreSQL. The data directory's path must be short enough for sockets. */
export const databaseUrlOf = (dataDirectory: string) =>
  `postgresql://towpath@/towpath?host=${encodeURIComponent(join(dataDirectory, "run", "postgres"))}&port=5432`;
