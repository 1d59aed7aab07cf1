import { readFileSync } from "node:fs";

/** Any process of an instance needs this many; one that sets up sandboxes needs what it gives to each of them. */
export const neededOpenFiles = { any: 1024, sandboxes: 4096 } as const;

/** Maximum number of open files of this process. Node raises the soft limit to the hard one at startup. */
export function openFilesLimit(): number {
  try {
    const limit = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? 1024 : limit === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(limit);
  } catch {
    return 1024;
  }
}

/** Why this process may not open as many files as it needs, and what to do; null when it may. */
export function openFilesProblem(needed: number, limit = openFilesLimit()): string | null {
  if (limit >= needed) return null;
  return (
    `A process may open only ${limit} files here (ulimit -Hn), and Towpath needs ${needed}. ` +
    `Raise the limit: ulimit -n ${needed} as root, LimitNOFILE=${needed} in a systemd unit, or --ulimit nofile=${needed} of a container.`
  );
}
