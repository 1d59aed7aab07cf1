import { type ChildProcess, execFile, spawn } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testContext } from "@towpath/core/testing";
import { receiveWebhook } from "@towpath/core/webhook";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { createForgeAdmin, createGitHub, type ForgeAdmin, type GitHub, verifyWebhook } from "@towpath/github";
import { type OpenJobQueue, openJobQueue } from "@towpath/queue";
import { freePort } from "@towpath/role/testing";
import { shortDirectory } from "@towpath/runtime/testing";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url));
const clientSecret = "a client secret for tests";
const webhookSecret = "a webhook secret for tests";

const entries = { forge: "tests/github", runner: "apps/runner", worker: "apps/worker" } as const;
type Role = keyof typeof entries;

/** Forge, runner and worker as real processes on a database of their own, and a stand-in for web's webhook route. */
export type LocalInstance = {
  readonly database: TestDatabase;
  readonly queue: OpenJobQueue;
  readonly github: GitHub;
  readonly forge: ForgeAdmin;
  readonly runDirectory: string;
  readonly dataDirectory: string;
  /** TOWPATH_SECRET of its processes. */
  readonly rootSecret: string;
  start(role: Role): Promise<void>;
  /** Ends a process at once, as a power cut would. */
  kill(role: Role): Promise<void>;
  /** Ends a process as the supervisor does; says how long it took. */
  stop(role: Role): Promise<{ readonly code: number | null }>;
  /** What a process has logged. */
  output(role: Role): string;
  /** A call to the forge's REST API as an installation, for what the client has no call for; answers the status. */
  change(installationId: number, method: string, path: string, body: unknown): Promise<number>;
  git(directory: string, ...args: string[]): Promise<string>;
  close(): Promise<void>;
};

export async function openLocalInstance(): Promise<LocalInstance> {
  const database = await createTestDatabase();
  const directory = await shortDirectory();
  const queue = await openJobQueue({ databaseUrl: database.url, onProblem: () => {} });
  const hooks = await webhookRoute(database, queue);
  const url = `http://localhost:${await freePort()}`;
  const settings = await environment(directory, database.url, url, hooks.port);
  const processes = new Map<Role, Running>();
  const { GITHUB_APP_ID: appId, GITHUB_APP_SLUG: appSlug, GITHUB_APP_PRIVATE_KEY: privateKey } = settings;
  return {
    database,
    queue,
    runDirectory: settings.TOWPATH_RUN_DIR,
    dataDirectory: settings.TOWPATH_DATA_DIR,
    rootSecret: settings.TOWPATH_SECRET,
    github: createGitHub({
      ...{ appId, appSlug, privateKey, clientId: settings.GITHUB_CLIENT_ID, clientSecret, webhookSecret, url },
      apiUrl: settings.GITHUB_API_URL,
    }),
    forge: createForgeAdmin({ url, clientSecret }),
    async start(role) {
      processes.set(role, await startProcess(role, settings));
    },
    kill: async (role) => end(processes.get(role), "SIGKILL"),
    async stop(role) {
      await end(processes.get(role), stopSignal(role));
      return { code: processes.get(role)?.child.exitCode ?? null };
    },
    async change(installationId, method, path, body) {
      const asInstallation = await installationToken(settings, installationId);
      const headers = { authorization: `Bearer ${asInstallation}` };
      return (await fetch(`${url}/api/v3${path}`, { method, headers, body: JSON.stringify(body) })).status;
    },
    output: (role) => processes.get(role)?.output() ?? "",
    async git(cwd, ...args) {
      const who = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" };
      const committer = { GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" };
      const env = { PATH: settings.PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: "1", ...who, ...committer };
      return (await run("git", args, { cwd, env })).stdout.trim();
    },
    async close() {
      for (const [role, each] of processes) await end(each, stopSignal(role));
      await hooks.close();
      await queue.close();
      await database.close();
      await unmountBelow(directory);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What a worker that was killed leaves to the next one: the socket directory of a server. */
async function unmountBelow(directory: string): Promise<void> {
  for (const [, path = ""] of (await readFile("/proc/self/mounts", "utf8")).matchAll(/^\S+ (\S+)/gm)) {
    if (path.startsWith(`${directory}/`)) await run("umount", ["--lazy", path]);
  }
}

/** As the launcher stops the whole instance: on SIGTERM alone, the runner leaves its servers to the next one. */
const stopSignal = (role: Role) => (role === "runner" ? "SIGINT" : "SIGTERM");

async function environment(directory: string, databaseUrl: string, url: string, hookPort: number) {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const data = join(directory, "data");
  const runDirectory = join(directory, "r");
  await Promise.all([data, runDirectory].map((directory) => mkdir(directory, { recursive: true })));
  const index = Object.entries(process.env).filter(([name]) =>
    /^(UV_|PIP_|SSL_CERT|HTTPS?_PROXY|NO_PROXY|NODE_COMPILE_CACHE)/i.test(name),
  );
  return {
    ...Object.fromEntries(index.map(([name, value]) => [name, value ?? ""])),
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: process.env.HOME ?? directory,
    DATABASE_URL: databaseUrl,
    TOWPATH_DATA_DIR: data,
    TOWPATH_RUN_DIR: runDirectory,
    TOWPATH_SECRET: "a root secret for tests, at least 32 characters",
    TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
    // Where tests serve repositories behind Git URLs.
    TOWPATH_EXTERNAL_NETWORKS: "127.0.0.0/8",
    GITHUB_APP_ID: "4242",
    GITHUB_APP_SLUG: "towpath-test",
    GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    GITHUB_CLIENT_ID: "Iv1.test",
    GITHUB_CLIENT_SECRET: clientSecret,
    GITHUB_WEBHOOK_SECRET: webhookSecret,
    GITHUB_URL: url,
    GITHUB_API_URL: `${url}/api/v3`,
    FORGE_PORT: new URL(url).port,
    FORGE_URL: url,
    FORGE_WEBHOOK_URL: `http://127.0.0.1:${hookPort}/api/github/webhooks`,
    FORGE_CALLBACK_URL: "http://localhost:3000/api/github/callback",
    FORGE_SETUP_URL: "http://localhost:3000/api/github/setup",
  };
}

/** A token with all that the App may do there. */
async function installationToken(settings: { GITHUB_APP_PRIVATE_KEY: string; GITHUB_API_URL: string }, id: number) {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const unsigned = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss: "4242", iat: now, exp: now + 300 })}`;
  const jwt = `${unsigned}.${sign("sha256", Buffer.from(unsigned), settings.GITHUB_APP_PRIVATE_KEY).toString("base64url")}`;
  const answer = await fetch(`${settings.GITHUB_API_URL}/app/installations/${id}/access_tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${jwt}` },
  });
  const { token } = (await answer.json()) as { token: string };
  return token;
}

type Running = { readonly child: ChildProcess; output(): string };

async function startProcess(role: Role, env: NodeJS.ProcessEnv): Promise<Running> {
  const entry = join(root, entries[role], "src/main.ts");
  const child = spawn(process.execPath, [entry], { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      if (text.includes('"msg":"ready"')) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", () => reject(new Error(`${role} ended before it was ready:\n${text}`)));
  });
  await ready;
  return { child, output: () => text };
}

async function end(running: Running | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!running || running.child.exitCode !== null || running.child.signalCode !== null) return;
  const gone = new Promise((resolve) => running.child.once("exit", resolve));
  running.child.kill(signal);
  await gone;
}

async function webhookRoute(database: TestDatabase, queue: OpenJobQueue) {
  const ctx = testContext(database.db, { kind: "job", job: "webhook.receive" }, { queue });
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const header = (name: string) => String(request.headers[name] ?? "");
    if (!verifyWebhook(webhookSecret, body, header("x-hub-signature-256"))) return response.writeHead(401).end();
    const input = { deliveryId: header("x-github-delivery"), event: header("x-github-event") };
    await receiveWebhook({ ctx, input: { ...input, payload: JSON.parse(body.toString("utf8")) } });
    response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes files below a directory. */
export async function writeFiles(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
}
