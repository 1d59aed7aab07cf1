import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

const entries = {
  web: "apps/web/serve.ts",
  gateway: "apps/gateway/src/main.ts",
  runner: "apps/runner/src/main.ts",
  worker: "apps/worker/src/main.ts",
} as const;

export type RoleName = keyof typeof entries;

export const isRole = (name: string): name is RoleName => Object.hasOwn(entries, name);

/** The command of a role's process. It trusts the hosts whose certificates the machine trusts, as everything else on it. */
export const commandOf = (role: RoleName): readonly [program: string, ...args: string[]] => [
  process.execPath,
  "--use-system-ca",
  "--disable-warning=ExperimentalWarning",
  join(root, entries[role]),
];
