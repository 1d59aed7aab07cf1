import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Identity } from "../instance/instance.ts";
import type { Environment, UpOptions } from "./options.ts";

/** One process of the instance: what to run and the whole environment that it gets. */
export type Role = {
  readonly name: "web" | "gateway" | "worker" | "runner";
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** What ends it with the instance. */
  readonly stopSignal: "SIGTERM" | "SIGINT";
};

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const entryOf = (path: string) => join(root, path);

/** What every process may know of the operator's environment: programs, language, certificates, proxies, caches. */
const inherited = [
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

/** Hold keys of others, which no other process needs. */
const isForWebOnly = (name: string) => name.startsWith("TOWPATH_CHAT_");

export type Surroundings = {
  readonly options: UpOptions;
  readonly identity: Identity;
  /** Address of servers, with `{name}`. */
  readonly serverUrl: string;
  readonly databaseUrl: string;
  readonly uv: string;
  readonly environment: Environment;
};

/** Builds the environments: what the operator set, overridden by what `up` has resolved. */
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
    DATABASE_URL: surroundings.databaseUrl,
    TOWPATH_DATA_DIR: options.dataDirectory,
    TOWPATH_RUN_DIR: options.runDirectory,
  };
  const forWeb = Object.fromEntries(Object.entries(given).filter(([name]) => isForWebOnly(name)));
  return [
    { name: "web", entry: entryOf("apps/web/serve.ts"), env: { ...shared, ...forWeb }, stopSignal: "SIGTERM" },
    { name: "gateway", entry: entryOf("apps/gateway/src/main.ts"), env: shared, stopSignal: "SIGTERM" },
    // After SIGTERM its servers would go on, for the next runner.
    { name: "runner", entry: entryOf("apps/runner/src/main.ts"), env: shared, stopSignal: "SIGINT" },
    { name: "worker", entry: entryOf("apps/worker/src/main.ts"), env: shared, stopSignal: "SIGTERM" },
  ];
}
