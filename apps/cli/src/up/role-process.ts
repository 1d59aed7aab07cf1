import { join } from "node:path";
import { repositoryRoot } from "../repository-root.ts";

const entries = {
  web: "apps/web/serve.ts",
  gateway: "apps/gateway/src/main.ts",
  runner: "apps/runner/src/main.ts",
  worker: "apps/worker/src/main.ts",
} as const;

export type RoleName = keyof typeof entries;

/** The programs of all roles, below the checkout. */
export const roleEntries: readonly string[] = Object.values(entries);

export const roleNames = Object.keys(entries);

export const isRole = (name: string): name is RoleName => Object.hasOwn(entries, name);

export type Command = readonly [program: string, ...args: string[]];

/** The command of a role's process of this checkout, which trusts the machine's certificate authorities. */
export const commandOf = (role: RoleName, ...args: readonly string[]): Command => [
  process.execPath,
  "--use-system-ca",
  "--disable-warning=ExperimentalWarning",
  join(repositoryRoot, entries[role]),
  ...args,
];
