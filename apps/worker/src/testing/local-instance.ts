import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { receiveWebhook } from "@towpath/core/sources/webhook";
import { testContext } from "@towpath/core/testing";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { createGitHub, type GitHub, verifyWebhook } from "@towpath/github";
import { type Admin, createAppJwt, type GitHubStandIn, gitHubSettings, startGitHub } from "@towpath/github-stand-in";
import { type OpenJobQueue, openJobQueue } from "@towpath/queue";
import { freePort } from "@towpath/role/testing";
import { shortDirectory } from "@towpath/runtime/testing";

const run = promisify(execFile);
const apps = fileURLToPath(new URL("../../../", import.meta.url));

type Role = "runner" | "worker";

/** Runner and worker as real processes on a database of their own. */
export type LocalInstance = {
  readonly database: TestDatabase;
  readonly queue: OpenJobQueue;
  /** With `withGitHub`: the stand-in for GitHub, and a stand-in for web's webhook route. */
  readonly github: GitHub;
  readonly admin: Admin;
  readonly runDirectory: string;
  readonly dataDirectory: string;
  /** TOWPATH_SECRET of its processes. */
  readonly rootSecret: string;
  start(role: Role): Promise<void>;
  /** Ends a process at once, as a power cut would. */
  kill(role: Role): Promise<void>;
  /** Stops a process like the supervisor. */
  stop(role: Role): Promise<{ readonly code: number | null }>;
  /** Log of a process. */
  output(role: Role): string;
  /** A call to GitHub's REST API as an installation, for endpoints that the client lacks. */
  call(installationId: number, method: string, path: string, body?: unknown): Promise<Response>;
  git(directory: string, ...args: string[]): Promise<string>;
  close(): Promise<void>;
};

export async function openLocalInstance({ withGitHub = false } = {}): Promise<LocalInstance> {
  const database = await createTestDatabase();
  const directory = await shortDirectory();
  const queue = await openJobQueue({ databaseUrl: database.url, onProblem: () => {} });
  const gitHub = withGitHub ? await openGitHub(database, queue) : null;
  const settings = { ...(await environment(directory, database.url)), ...gitHub?.settings };
  const processes = new Map<Role, Running>();
  const requireGitHub = () => {
    if (!gitHub) throw new Error("openLocalInstance was called without withGitHub.");
    return gitHub;
  };
  return {
    database,
    queue,
    runDirectory: settings.TOWPATH_RUN_DIR,
    dataDirectory: settings.TOWPATH_DATA_DIR,
    rootSecret: settings.TOWPATH_SECRET,
    get github() {
      return requireGitHub().client;
    },
    get admin() {
      return requireGitHub().standIn.admin;
    },
    async start(role) {
      processes.set(role, await startProcess(role, settings));
    },
    kill: async (role) => end(processes.get(role), "SIGKILL"),
    async stop(role) {
      await end(processes.get(role), stopSignal(role));
      return { code: processes.get(role)?.child.exitCode ?? null };
    },
    async call(installationId, method, path, body) {
      const { standIn } = requireGitHub();
      const headers = { authorization: `Bearer ${await installationToken(standIn, installationId)}` };
      return fetch(`${standIn.gitHubConfig.apiUrl}${path}`, { method, headers, body: JSON.stringify(body) });
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
      await gitHub?.close();
      await queue.close();
      await database.close();
      await unmountBelow(directory);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Unmounts a killed worker's leftover: the socket directory of a server. */
async function unmountBelow(directory: string): Promise<void> {
  for (const [, path = ""] of (await readFile("/proc/self/mounts", "utf8")).matchAll(/^\S+ (\S+)/gm)) {
    if (path.startsWith(`${directory}/`)) await run("umount", ["--lazy", path]);
  }
}

/** The launcher's signals to stop the whole instance: on SIGTERM, the runner would leave its servers running. */
const stopSignal = (role: Role) => (role === "runner" ? "SIGINT" : "SIGTERM");

async function environment(directory: string, databaseUrl: string) {
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
  };
}

async function openGitHub(database: TestDatabase, queue: OpenJobQueue) {
  const settings = gitHubSettings(`http://localhost:${await freePort()}`);
  const hooks = await webhookRoute(database, queue, settings.GITHUB_WEBHOOK_SECRET ?? "");
  const standIn = await startGitHub({ settings, webUrl: `http://127.0.0.1:${hooks.port}` });
  return {
    settings,
    standIn,
    client: createGitHub(standIn.gitHubConfig),
    async close() {
      await standIn.close();
      await hooks.close();
    },
  };
}

/** A token with all of the App's permissions there. */
async function installationToken(standIn: GitHubStandIn, id: number): Promise<string> {
  const answer = await fetch(`${standIn.gitHubConfig.apiUrl}/app/installations/${id}/access_tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${await createAppJwt(standIn)}` },
  });
  const { token } = (await answer.json()) as { token: string };
  return token;
}

type Running = { readonly child: ChildProcess; output(): string };

async function startProcess(role: Role, env: NodeJS.ProcessEnv): Promise<Running> {
  const child = spawn(process.execPath, [join(apps, role, "src/main.ts")], { env, stdio: ["ignore", "pipe", "pipe"] });
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

async function webhookRoute(database: TestDatabase, queue: OpenJobQueue, secret: string) {
  const ctx = testContext(database.db, { kind: "job", job: "webhook.receive" }, { queue });
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const header = (name: string) => String(request.headers[name] ?? "");
    if (!verifyWebhook(secret, body, header("x-hub-signature-256"))) return response.writeHead(401).end();
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
