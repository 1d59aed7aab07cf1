import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Identity } from "../instance/instance.ts";
import type { Environment, UpOptions } from "./options.ts";

/** One process of the instance: what to run and the whole environment that it gets. */
export type Role = {
  readonly name: "web" | "gateway" | "worker" | "runner" | "forge";
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
 * address: everything runs on this machine, where its servers are reached by sockets too.
 */
const passesThrough = (name: string) =>
  name !== "TOWPATH_RUNNER_ADDRESS" &&
  (inherited.includes(name) || /^(TOWPATH_|DATABASE_DIRECT_URL$|GITHUB_(APP|CLIENT|WEBHOOK|URL|API)|UV_)/.test(name));

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

export const usesRealGitHub = (environment: Environment) => Boolean(environment.GITHUB_APP_ID);

const forgeAppId = "1";

function forgeSettings({ options, identity }: Surroundings): Record<string, string> {
  const forge = `http://localhost:${options.forgePort}`;
  return {
    GITHUB_APP_ID: forgeAppId,
    GITHUB_APP_SLUG: "towpath-local",
    GITHUB_APP_PRIVATE_KEY: Buffer.from(identity.forge.privateKey).toString("base64"),
    GITHUB_CLIENT_ID: identity.forge.clientId,
    GITHUB_CLIENT_SECRET: identity.forge.clientSecret,
    GITHUB_WEBHOOK_SECRET: identity.forge.webhookSecret,
    GITHUB_URL: forge,
    GITHUB_API_URL: `${forge}/api/v3`,
  };
}

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
    ...(usesRealGitHub(environment) ? {} : forgeSettings(surroundings)),
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
  const forge: Role = {
    name: "forge",
    stopSignal: "SIGTERM",
    entry: entryOf("tests/github/src/main.ts"),
    env: {
      ...shared,
      FORGE_PORT: String(options.forgePort),
      FORGE_URL: `http://localhost:${options.forgePort}`,
      FORGE_WEBHOOK_URL: `${url}/api/github/webhooks`,
      FORGE_CALLBACK_URL: `${url}/api/github/callback`,
      FORGE_SETUP_URL: `${url}/api/github/setup`,
    },
  };
  const forWeb = Object.fromEntries(Object.entries(given).filter(([name]) => isForWebOnly(name)));
  return [
    { name: "web", entry: entryOf("apps/web/serve.ts"), env: { ...shared, ...forWeb }, stopSignal: "SIGTERM" },
    { name: "gateway", entry: entryOf("apps/gateway/src/main.ts"), env: shared, stopSignal: "SIGTERM" },
    // After SIGTERM its servers would go on, for the next runner.
    { name: "runner", entry: entryOf("apps/runner/src/main.ts"), env: shared, stopSignal: "SIGINT" },
    { name: "worker", entry: entryOf("apps/worker/src/main.ts"), env: shared, stopSignal: "SIGTERM" },
    ...(usesRealGitHub(environment) ? [] : [forge]),
  ];
}
