import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "@towpath/role/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modernCall } from "../instance/modern-call.ts";
import { operatorPost, operatorToken } from "../instance/operator.ts";
import {
  instancePorts,
  type Ports,
  repositoryRoot,
  startTowpath,
  type TowpathInstance,
  towpath,
} from "../instance/towpath-process.ts";

// The first release is checked out, installed by its own launcher, and upgraded while its servers are being called.
const firstRelease = "2420f951548780433809a9e25fe1e3624d4340e2";
const servers = [
  { name: "first-echo", tool: "echo", input: { text: "hello" } },
  { name: "first-add", tool: "add", input: { a: 1, b: 2 } },
] as const;
const adding = `from fastmcp import FastMCP
mcp = FastMCP("Adding")

@mcp.tool
def add(a: int, b: int) -> int:
    return a + b
`;
/** Answers of each server during an upgrade, while clean-up rounds start every second. */
const callsOfEach = 200;

const run = promisify(execFile);
const author = ["-c", "user.name=Ada", "-c", "user.email=ada@localhost"];
let directory: string;
let ports: Ports;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-first-"));
  ports = await instancePorts();
  const checkout = await checkOutFirstRelease();
  const source = join(directory, "adding");
  await mkdir(source);
  await writeFile(join(source, "server.py"), adding);
  await writeFile(join(source, "requirements.txt"), "fastmcp\n");
  const dataDirectory = join(directory, "data");
  const up = await startFirstRelease(checkout, dataDirectory);
  try {
    for (const [at, from] of [join(checkout, "python/samples/echo"), source].entries()) {
      const argv = ["deploy", from, "--name", servers[at]?.name ?? "", "--public", "--data-dir", dataDirectory];
      await run(join(checkout, "towpath"), argv, { env: ownEnvironment() });
    }
    const url = `http://localhost:${ports.web}`;
    const { pushUrl } = await operatorPost({ url, dataDirectory }, "repositories", { name: "first-echo" });
    await run("git", ["clone", "--quiet", String(pushUrl), join(directory, "clone")]);
  } finally {
    const closed = once(up, "close");
    up.kill("SIGTERM");
    await closed;
  }
}, 900_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

async function checkOutFirstRelease(): Promise<string> {
  const checkout = join(directory, "first");
  const archive = join(directory, "first.tar");
  await mkdir(checkout);
  await run("git", ["-C", repositoryRoot, "archive", "--output", archive, firstRelease]).catch((error: Error) => {
    const remedy = "Run this in a clone with the whole history; in a shallow one, `git fetch --unshallow` first.";
    throw new Error(`The first release, commit ${firstRelease.slice(0, 8)}, is not in this checkout. ${remedy}`, {
      cause: error,
    });
  });
  await run("tar", ["-x", "-f", archive, "-C", checkout]);
  return checkout;
}

/** Its launcher brings its own programs and packages. */
const ownEnvironment = () => ({ ...process.env, NO_COLOR: "1", NODE_COMPILE_CACHE: undefined });

async function startFirstRelease(checkout: string, dataDirectory: string): Promise<ChildProcess> {
  const argv = ["up", "--data-dir", dataDirectory, "--port", String(ports.web)];
  argv.push("--gateway-port", String(ports.gateway), "--forge-port", String((await freePorts(1))[0]));
  const child = spawn(join(checkout, "towpath"), argv, {
    env: ownEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("Towpath is ready:")) resolve();
    });
    child.once("close", (status) => reject(new Error(`the first release ended with status ${status}:\n${text}`)));
  });
  return child;
}

const call = (name: string, tool: string, input: Readonly<Record<string, unknown>>) =>
  fetch(`http://localhost:${ports.gateway}/${name}/mcp`, modernCall(tool, input, "Caller"));

/** Calls a server until it has answered often enough. Resolves to the answers other than 200, as status and text. */
async function callContinuously(
  { name, tool, input }: (typeof servers)[number],
  ended: AbortSignal,
): Promise<string[]> {
  const unexpected: string[] = [];
  for (let answers = 0; answers < callsOfEach && !ended.aborted; ) {
    // Nothing listens while the instance is down.
    const answer = await call(name, tool, input).catch(() => null);
    const text = await answer?.text().catch((error: unknown) => String(error));
    if (answer) answers++;
    if (answer && answer.status !== 200) unexpected.push(`${answer.status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return unexpected;
}

/** Starts this checkout on a copy of the first release's data, while both servers are called. */
async function upgrade(copy: string, env: Record<string, string>, then: (instance: TowpathInstance) => Promise<void>) {
  const data = join(directory, copy);
  // Preserve owners: some files are another user's.
  await run("cp", ["-a", join(directory, "data"), data]);
  const ended = new AbortController();
  const calls = Promise.all(servers.map((server) => callContinuously(server, ended.signal)));
  const instance = await startTowpath(data, ports, { ...env, TOWPATH_RETENTION_EVERY_MS: "1000" });
  try {
    expect(await calls).toEqual([[], []]);
    expect(instance.output()).toMatch(/Updated from schema 0000_initial to \S+ \(.*\), \d+ migrations\.\n/);
    await then(instance);
  } finally {
    ended.abort();
    await instance.stop();
  }
}

test("RUN-8 OPS-3 an upgrade from the first release without the package index: servers answer every call", async () => {
  await upgrade("without-index", { UV_DEFAULT_INDEX: "http://127.0.0.1:1/simple" }, async () => {});
}, 600_000);

test("RUN-8 OPS-3 an upgrade from the first release: servers answer every call, and are deployed and pushed to as before", async () => {
  await upgrade("with-index", {}, async (instance) => {
    await writeFile(join(directory, "adding", "server.py"), adding.replace("a + b", "a + b + 1"));
    const options = ["--name", "first-add", "--data-dir", instance.dataDirectory];
    const { status, stdout, stderr } = await towpath("deploy", join(directory, "adding"), ...options);
    expect(status, stdout + stderr).toBe(0);
    expect(await (await call("first-add", "add", { a: 1, b: 2 })).text()).toContain('"text":"4"');

    // The first release used the forge's address; `up` prints the repository's new one.
    const [, url = ""] = /first-echo: (\S+)/.exec(instance.output()) ?? [];
    const clone = join(directory, "clone");
    const credential = `operator:${await operatorToken(instance)}`;
    await run("git", ["-C", clone, "remote", "set-url", "origin", url.replace("://", `://${credential}@`)]);
    const file = join(clone, "echo.py");
    await writeFile(file, (await readFile(file, "utf8")).replace("return text", 'return f"pushed {text}"'));
    await run("git", ["-C", clone, ...author, "commit", "--quiet", "--all", "--message", "Change the echo"]);
    await run("git", ["-C", clone, "push", "--quiet"]);
    const echoed = async () => (await call("first-echo", "echo", { text: "hello" })).text();
    await expect.poll(echoed, { timeout: 120_000, interval: 1000 }).toContain('"text":"pushed hello"');
  });
}, 600_000);
