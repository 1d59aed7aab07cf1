import { replacedLimits } from "@towpath/role";
import type { Identity } from "../instance/instance.ts";
import type { Database } from "./database.ts";
import type { Environment, UpOptions } from "./options.ts";
import type { RoleName } from "./role-process.ts";

/** A process of the instance, with its complete environment. */
export type Role = {
  readonly name: RoleName | "caddy";
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The signal that stops it with the instance. */
  readonly stopSignal: "SIGTERM" | "SIGINT";
  /** Descriptor of the listening socket that its processes share, one after another and side by side; null: none. */
  readonly socket: number | null;
  /** Of its processes only one may exist at a time. */
  readonly runsAlone: boolean;
  /** Milliseconds that a process has which was replaced, where its settings let it take longer than usual. */
  readonly replacedKillMs?: number;
  /** Whether it serves, of a program that can't report it. */
  readonly serves?: () => Promise<boolean>;
};

/** Variables of the operator that every process gets: programs, language, certificates, proxies, caches. */
export const inherited: readonly string[] = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "NODE_COMPILE_CACHE",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
];

/**
 * Settings of the operator that reach the processes: our own, GitHub's, and uv's index settings. Not the runner's
 * addresses: everything runs on this machine, where its servers are reached by sockets too.
 */
const passesThrough = (name: string) =>
  name !== "TOWPATH_RUNNER_ADDRESS" &&
  name !== "TOWPATH_RUNNER_LISTEN" &&
  (inherited.includes(name) || /^(TOWPATH_|GITHUB_(APP|CLIENT|WEBHOOK|URL|API)|UV_)/.test(name));

/** Hold keys that no other process needs: of models, which web and worker ask, and of the operator. */
const isForModels = (name: string) => name.startsWith("TOWPATH_CHAT_");
const isForFew = (name: string) => isForModels(name) || name === "TOWPATH_OPERATOR_TOKEN";

export type Surroundings = {
  readonly options: UpOptions;
  readonly identity: Pick<Identity, "secret" | "previousSecrets">;
  /** Address of servers, with `{name}`. */
  readonly serverUrl: string;
  readonly database: Pick<Database, "url" | "directUrl">;
  readonly uv: string;
  readonly environment: Environment;
};

/** Of the roles: the operator's settings, overridden by those that `up` resolved. */
export function environmentsOf(
  surroundings: Surroundings,
): Readonly<Record<"web" | "worker" | "others", Record<string, string>>> {
  const { options, identity, environment } = surroundings;
  const given = Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && passesThrough(entry[0]),
    ),
  );
  const { url } = options;
  const others: Record<string, string> = {
    TOWPATH_SECRET: identity.secret,
    TOWPATH_PREVIOUS_SECRETS: identity.previousSecrets.join(","),
    TOWPATH_UV: surroundings.uv,
    ...Object.fromEntries(Object.entries(given).filter(([name]) => !isForFew(name))),
    TOWPATH_URL: url,
    TOWPATH_SERVER_URL: surroundings.serverUrl,
    TOWPATH_HOST: options.host,
    TOWPATH_PORT: String(options.port),
    TOWPATH_GATEWAY_HOST: options.gatewayHost,
    TOWPATH_GATEWAY_PORT: String(options.gatewayPort),
    NODE_ENV: "production",
    DATABASE_URL: surroundings.database.url,
    DATABASE_DIRECT_URL: surroundings.database.directUrl,
    TOWPATH_DATA_DIR: options.dataDirectory,
    TOWPATH_RUN_DIR: options.runDirectory,
  };
  const only = (isFor: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => isFor(name)));
  return { web: { ...others, ...only(isForFew) }, worker: { ...others, ...only(isForModels) }, others };
}

/** The gateway's settings say how long it goes on with what is under way; then it exits by itself. */
function gatewayKillMs({ TOWPATH_GATEWAY_DRAIN_SECONDS: seconds }: Readonly<Record<string, string>>): number {
  const { requestsMs, killMs } = replacedLimits;
  return Math.max(killMs, 1000 * (Number(seconds) || 0) + killMs - requestsMs);
}

type Started = {
  readonly commands: Readonly<Record<RoleName, readonly string[]>>;
  /** Descriptors of listening sockets. */
  readonly sockets: { readonly web: number; readonly gateway: number };
};

export function rolesOf({ commands, sockets, ...surroundings }: Surroundings & Started): Role[] {
  const environments = environmentsOf(surroundings);
  const roleOf = (name: RoleName, change: Partial<Role> = {}): Role => {
    const usual = { env: environments.others, stopSignal: "SIGTERM", socket: null, runsAlone: false } as const;
    return { name, command: commands[name], ...usual, ...change };
  };
  return [
    roleOf("web", { env: environments.web, socket: sockets.web }),
    roleOf("gateway", { socket: sockets.gateway, replacedKillMs: gatewayKillMs(environments.others) }),
    // After SIGTERM its servers would keep running, for the next runner.
    roleOf("runner", { stopSignal: "SIGINT", runsAlone: true }),
    roleOf("worker", { env: environments.worker }),
  ];
}
