import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modernCall } from "../instance/modern-call.ts";
import { operatorToken, pushUrlOf } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf, launcherOf, runningProcessOf } from "../instance/processes.ts";
import { callSteadily, callTool } from "../instance/steady-calls.ts";
import { instancePorts, type Ports, startTowpath, type TowpathInstance, towpath } from "../instance/towpath-process.ts";
import { type CuttableDisk, cuttableDisk, pretendReboot } from "./cuttable-disk.ts";

// The shim, the launcher and then everything at once is killed under calls, on a disk of the instance's own.

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const name = "steady";
const cuts = 3;
/** Rows are flushed in groups; a busy machine is late with that. */
const mayBeLostMs = 1000;
let directory: string;
let disk: CuttableDisk | null = null;
let dataDirectory: string;
let code: string;
let ports: Ports;
let instance: TowpathInstance;
const url = () => `${instance.serversUrl}/${name}/mcp`;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-cut-"));
  disk = isRoot ? await cuttableDisk(directory) : null;
  dataDirectory = join(disk?.path ?? directory, "data");
  ports = await instancePorts();
  await start();
  code = join(directory, "server");
  await mkdir(code);
  await writeFile(join(code, "server.py"), plainServer({ identity: "begun" }, "import time\nbegun = str(time.time())"));
  await writeFile(join(code, "requirements.txt"), plainRequirements);
  await deploy(name);
}, 600_000);
afterAll(async () => {
  await instance?.stop();
  await disk?.unmount();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Without interpreters that wait, which are frozen and can't be killed while they are. */
async function start(): Promise<void> {
  instance = await startTowpath(dataDirectory, ports, { TOWPATH_PREWARM_SHARE: "0" });
}

async function deploy(server: string, ...options: string[]): Promise<void> {
  const { status, stdout, stderr } = await towpath(
    ...["deploy", code, "--name", server, "--public", "--data-dir", dataDirectory, ...options],
  );
  expect(status, stdout + stderr).toBe(0);
}

async function query<Row extends object>(sql: string): Promise<Row[]> {
  const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 1 });
  try {
    return (await pool.query(sql)).rows;
  } finally {
    await close();
  }
}

/** Processes whose command line or environment names the data directory. */
async function processesLeft(): Promise<string[]> {
  const texts = await Promise.all(
    (await readdir("/proc"))
      .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
      .flatMap((pid) => ["cmdline", "environ"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => ""))),
  );
  return texts.filter((text) => text.includes(dataDirectory));
}

const mountsLeft = async () => (await readFile("/proc/self/mounts", "utf8")).split(` ${dataDirectory}/`).length - 1;
const shimOf = async () => Number((await readFile(join(dataDirectory, "run/shim.sock.owner"), "utf8")).split("-")[0]);

test("RUN-8 GW-13 kill -9 of the shim costs the calls that were under way; the others wait for its servers to start again", async () => {
  const before = await callTool(url(), "identity");
  const load = callSteadily({ url: url(), tool: "identity" });
  await sleep(1000);
  process.kill(await shimOf(), "SIGKILL");
  const killedAt = performance.now();
  await sleep(200);
  const after = await callTool(url(), "identity");
  const waitedMs = performance.now() - killedAt;
  await sleep(1000);
  const { failed } = await load.stop();
  expect(after).not.toBe(before);
  expect(waitedMs).toBeLessThan(15_000);
  // Until the kernel has ended the server.
  expect(failed.filter(({ sentAt }) => sentAt > killedAt + 500)).toEqual([]);
});

test("RUN-8 OPS-1 after a kill -9 of the launcher the next start ends what is left, and has the running servers", async () => {
  const before = await callTool(url(), "identity");
  const held = instance.process;
  // It hangs; the others have ended before the next start looks.
  process.kill(runningProcessOf(dataDirectory, "worker"), "SIGSTOP");
  process.kill(launcherOf(dataDirectory), "SIGKILL");
  if (held.exitCode === null && held.signalCode === null) await once(held, "exit");
  await start();
  expect(instance.output()).toContain("The last launcher here was killed: ending what it left");
  expect(await callTool(url(), "identity")).toBe(before);
});

test("RUN-8 OPS-1 without a next start nothing of an instance whose launcher was killed is left after a minute", async () => {
  await callTool(url(), "identity");
  process.kill(launcherOf(dataDirectory), "SIGKILL");
  await expect.poll(processesLeft, { timeout: 120_000, interval: 1000 }).toEqual([]);
  expect(await mountsLeft()).toBe(0);
  await start();
  // It was in use.
  const states = () => query<{ state: string }>("SELECT state FROM instance WHERE ended_at IS NULL");
  await expect.poll(states, { timeout: 30_000 }).toEqual([{ state: "ready" }]);
}, 240_000);

type Confirmed = { readonly rows: Map<string, number>; readonly tags: string[]; readonly variables: string[] };

/** Calls, pushes tags and sets variables until it is stopped. Resolves to what was confirmed; of calls also when. */
function work(round: number): { readonly confirmed: Confirmed; stop(): Promise<unknown> } {
  const ended = new AbortController();
  const confirmed: Confirmed = { rows: new Map(), tags: [], variables: [] };
  const repeat = async (attempt: (number: number) => Promise<unknown>) => {
    for (let number = 1; !ended.signal.aborted; number++) await attempt(number).catch(() => sleep(20));
  };
  const call = async () => {
    const answer = await fetch(url(), { ...modernCall("identity", {}, "cut"), signal: ended.signal });
    const id = answer.headers.get("towpath-request-id");
    await answer.text();
    if (answer.ok && id !== null) confirmed.rows.set(id, performance.now());
  };
  const clone = join(directory, `clone-${round}`);
  const git = (...args: string[]) =>
    run("git", ["-C", clone, "-c", "user.name=Ada", "-c", "user.email=ada@localhost", ...args]);
  const cloned = mkdir(clone).then(async () => git("clone", "--quiet", await pushUrlOf(instance, name), "."));
  const push = async (number: number) => {
    await cloned;
    const tag = `t-${round}-${number}`;
    await git("commit", "--quiet", "--allow-empty", "--message", tag);
    await git("tag", tag);
    await git("push", "--quiet", "origin", tag);
    confirmed.tags.push(`${(await git("rev-parse", "HEAD")).stdout.trim()}\trefs/tags/${tag}`);
  };
  const headersOf = async () => ({
    authorization: `Bearer ${await operatorToken(instance)}`,
    "content-type": "application/json",
  });
  const headers = headersOf();
  const set = async (number: number) => {
    const secrets = [{ keyName: `V_${round}_${number}`, secretValue: "value" }];
    const options = { method: "PATCH", headers: await headers, body: JSON.stringify({ secrets }) };
    const answer = await fetch(`${instance.url}/api/v1/projects/${name}/secrets`, { ...options, signal: ended.signal });
    if (answer.ok) confirmed.variables.push(`V_${round}_${number}`);
    await sleep(200);
  };
  const all = Promise.all([call, call, push, set].map(repeat));
  return {
    confirmed,
    stop() {
      ended.abort();
      return all;
    },
  };
}

type Cut = { readonly confirmed: Confirmed; readonly cutAt: number; readonly deploying: Promise<unknown> };

async function cut(round: number): Promise<Cut> {
  const { confirmed, stop } = work(round);
  const least = () => Math.min(confirmed.rows.size, confirmed.tags.length, confirmed.variables.length);
  await expect.poll(least, { timeout: 60_000 }).toBeGreaterThan(0);
  // Its repository, build and layers are half written at some of these moments.
  const deploying = towpath("deploy", code, "--name", `fresh-${round}`, "--public", "--data-dir", dataDirectory);
  await sleep(3000 + round * 2500);
  await disk?.cut([launcherOf(dataDirectory), await shimOf()]);
  await stop();
  return { confirmed, cutAt: Math.max(...confirmed.rows.values()), deploying };
}

async function damagedRepositories(): Promise<string[]> {
  const damaged: string[] = [];
  for (const id of await readdir(join(dataDirectory, "repositories"))) {
    const check = run("git", ["-C", join(dataDirectory, "repositories", id), "fsck", "--strict"]);
    await check.catch((error) => damaged.push(`${id}: ${error.stderr}`));
  }
  return damaged;
}

test.skipIf(!isRoot)(
  "RUN-8 OPS-3 GW-10 after power cuts the instance starts by itself, with every confirmed row, push and variable, and builds",
  async () => {
    const identity = await readFile(join(dataDirectory, "instance.json"), "utf8");
    for (let round = 1; round <= cuts; round++) {
      const { confirmed, cutAt, deploying } = await cut(round);
      expect(await readFile(join(dataDirectory, "instance.json"), "utf8")).toBe(identity);
      expect(await damagedRepositories()).toEqual([]);
      await pretendReboot(dataDirectory);
      await start();

      const states = () => query<{ state: string }>("SELECT state FROM instance WHERE ended_at IS NULL");
      await expect.poll(states, { timeout: 30_000 }).toContainEqual({ state: "ready" });
      expect(await callTool(url(), "identity")).toContain('"result"');
      const stored = async () => {
        const rows = await query<{ id: string }>("SELECT id FROM request_log WHERE client_name = 'cut'");
        const ids = new Set(rows.map(({ id }) => id));
        return [...confirmed.rows].filter(([id, at]) => !ids.has(id) && at < cutAt - mayBeLostMs);
      };
      await expect.poll(stored, { timeout: 30_000 }).toEqual([]);
      const listed = (await run("git", ["ls-remote", "--tags", await pushUrlOf(instance, name)])).stdout.split("\n");
      expect(listed).toEqual(expect.arrayContaining(confirmed.tags));
      const known = (await query<{ key: string }>("SELECT key_name AS key FROM secret")).map(({ key }) => key);
      expect(known).toEqual(expect.arrayContaining(confirmed.variables));
      // It may have found the instance again, or have given up.
      await deploying;
      await deploy(`fresh-${round}`);
      // It opens all variables.
      await deploy(name, "--rebuild");
    }
  },
  900_000,
);
