import type { Identity } from "../instance/instance.ts";
import type { Database } from "./database.ts";
import type { Environment, UpOptions } from "./options.ts";
import { commandOf, type RoleName } from "./role-process.ts";

/** A process of the instance, with its complete environment. */
export type Role = {
  readonly name: RoleName | "caddy";
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The signal that stops it with the instance. */
  readonly stopSignal: "SIGTERM" | "SIGINT";
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

/** Hold keys that no other process needs. */
const isForWebOnly = (name: string) => name.startsWith("TOWPATH_CHAT_") || name === "TOWPATH_OPERATOR_TOKEN";

export type Surroundings = {
  readonly options: UpOptions;
  readonly identity: Identity;
  /** Address of servers, with `{name}`. */
  readonly serverUrl: string;
  readonly database: Pick<Database, "url" | "directUrl">;
  readonly uv: string;
  readonly environment: Environment;
};

/** Builds the environments: the operator's settings, overridden by those that `up` resolved. */
export function rolesOf(surroundings: Surroundings): Role[] {
  const { options, identity, environment } = surroundings;
  const given = Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && passesThrough(entry[0]),
    ),
  );
  const { url } = options;
  const shared: Record<string, string> = {
    TOWPATH_SECRET: identity.secret,
    TOWPATH_PREVIOUS_SECRETS: identity.previousSecrets.join(","),
    TOWPATH_UV: surroundings.uv,
    ...Object.fromEntries(Object.entries(given).filter(([name]) => !isForWebOnly(name))),
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
  const forWeb = Object.fromEntries(Object.entries(given).filter(([name]) => isForWebOnly(name)));
  const roleOf = (name: RoleName, env = shared, stopSignal: Role["stopSignal"] = "SIGTERM"): Role => {
    return { name, command: commandOf(name), env, stopSignal };
  };
  // After SIGTERM the runner's servers would keep running, for the next runner.
  return [
    roleOf("web", { ...shared, ...forWeb }),
    roleOf("gateway"),
    roleOf("runner", shared, "SIGINT"),
    roleOf("worker"),
  ];
}
