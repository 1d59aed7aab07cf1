import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createForgeAdmin, createGitHub } from "@towpath/github";
import { freePort } from "@towpath/role/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { git, testPrivateKey, testSecret, WebhookReceiver } from "./testing/test-forge.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
let directory: string;
let hooks: WebhookReceiver;
let environment: Record<string, string>;
const children: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-forge-main-"));
  hooks = new WebhookReceiver();
  const hookPort = await hooks.listen();
  const url = `http://localhost:${await freePort()}`;
  environment = {
    PATH: process.env.PATH ?? "",
    TOWPATH_DATA_DIR: directory,
    GITHUB_APP_ID: "1",
    GITHUB_APP_SLUG: "towpath",
    GITHUB_APP_PRIVATE_KEY: Buffer.from(testPrivateKey).toString("base64"),
    GITHUB_CLIENT_ID: "Iv1.x",
    GITHUB_CLIENT_SECRET: "a client secret",
    GITHUB_WEBHOOK_SECRET: testSecret,
    GITHUB_URL: url,
    GITHUB_API_URL: `${url}/api/v3`,
    FORGE_URL: url,
    FORGE_PORT: new URL(url).port,
    FORGE_WEBHOOK_URL: `http://127.0.0.1:${hookPort}/hooks`,
    FORGE_CALLBACK_URL: "http://localhost:3000/api/github/callback",
    FORGE_SETUP_URL: "http://localhost:3000/api/github/setup",
  };
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await hooks.close();
  await rm(directory, { recursive: true, force: true });
});

type Running = { child: ChildProcess; output: () => string; ended: Promise<number | null> };

function start(env: Record<string, string> = environment): Running {
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  child.stderr.on("data", (chunk) => {
    text += chunk;
  });
  return { child, output: () => text, ended: new Promise((resolve) => child.once("close", resolve)) };
}

async function startReady(): Promise<Running> {
  const running = start();
  await expect.poll(running.output, { timeout: 15_000 }).toContain('"msg":"ready"');
  return running;
}

test("GH-3 the process says ready, serves, and ends on SIGTERM with its state private to the user", async () => {
  const running = await startReady();
  expect((await fetch(`${environment.FORGE_URL}/healthz`)).status).toBe(200);
  running.child.kill("SIGTERM");
  // Not 1, as of a process that can't stop in time.
  expect(await running.ended).toBe(0);
  expect((await stat(join(directory, "forge", "repositories"))).mode & 0o077).toBe(0);
  expect(running.output()).not.toContain("a client secret");
});

test("GH-3 a forge that is killed keeps accounts, repositories and the webhooks it had not sent", async () => {
  const url = environment.FORGE_URL ?? "";
  const first = await startReady();
  const admin = createForgeAdmin({ url, clientSecret: "a client secret" });
  await admin.ensureAccount({ login: "ada" });
  const { installationId } = await admin.ensureInstallation({ login: "ada" });
  const { pushUrl } = await admin.ensureRepository({ owner: "ada", name: "tools" });
  const work = join(directory, "work");
  await git(directory, "init", "-q", "-b", "main", work);
  await writeFile(join(work, "server.py"), "x = 1\n");
  await git(work, "add", ".");
  await git(work, "commit", "-q", "-m", "First");
  const sha = (await git(work, "rev-parse", "HEAD")).trim();
  // The receiver is broken for as long as the first forge lives.
  hooks.answers.push(...Array<number>(20).fill(503));
  await git(work, "push", "-q", pushUrl, "main");
  first.child.kill("SIGKILL");
  await first.ended;
  hooks.answers.length = 0;
  const already = hooks.received.length;

  await startReady();
  await expect
    .poll(() => hooks.received.slice(already).map(({ event }) => event), { timeout: 10_000 })
    .toContain("push");
  const gitHub = createGitHub({
    appId: "1",
    appSlug: "towpath",
    privateKey: testPrivateKey,
    clientId: "Iv1.x",
    clientSecret: "a client secret",
    webhookSecret: testSecret,
    url,
    apiUrl: `${url}/api/v3`,
  });
  const address = { installationId, owner: "ada", name: "tools" };
  expect((await gitHub.branch(address, "main")).commit.sha).toBe(sha);
});

test("GH-3 missing settings and a port in use are reported in a sentence", async () => {
  const bare = start({ PATH: environment.PATH ?? "" });
  expect(await bare.ended).toBe(1);
  expect(bare.output()).toMatch(/^The forge cannot start[\s\S]*GITHUB_APP_ID[\s\S]*FORGE_SETUP_URL/);
  await startReady();
  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.output()).toMatch(/Port \d+ is in use; set FORGE_PORT/);
});
