import { randomUUID } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import type { RuntimeDriver } from "../../port/driver.ts";
import type { OutputSink } from "../../port/execution.ts";
import type { InstanceSpec, Prewarmed, PrewarmSpec, ServerSpec } from "../../port/servers.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { changedCode, testLimits, tinyServer } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import { createSandboxDriver } from "../driver.ts";
import { processTree } from "../process/tree.ts";

const mebibyte = 1024 * 1024;
const ignore: OutputSink = () => {};
let directory = "";
let driver: RuntimeDriver;

beforeAll(async () => {
  directory = await shortDirectory();
  driver = createSandboxDriver({
    ...tinyServer.driverConfig(directory),
    stateDirectory: directory,
    ...strictIsolation,
  });
});
afterAll(async () => {
  await driver.close();
  await rm(directory, { recursive: true, force: true });
});

const server = (change: Partial<ServerSpec> = {}) => tinyServer.server("serve", { network: "internet", ...change });
const instance = (change: Partial<ServerSpec> = {}): InstanceSpec => ({
  instanceId: randomUUID(),
  server: server(change),
  startTimeoutMs: 10_000,
});

async function prewarm(change: Partial<PrewarmSpec> = {}): Promise<Prewarmed> {
  const { layers, pythonVersion, network, limits } = server();
  const result = await driver.servers.prewarm({
    organizationId: "org-1",
    dependencies: layers.dependencies,
    pythonVersion,
    network,
    limits: { ...limits, cpus: 0.5 },
    startTimeoutMs: 10_000,
    ...change,
  });
  if (!result.ok) throw new Error(result.reason);
  return result.prewarmed;
}

async function claimed(prewarmed: Prewarmed, spec: InstanceSpec, onOutput = ignore) {
  const result = await prewarmed.claim("org-1", spec, onOutput);
  if (!("ok" in result) || !result.ok) throw new Error(`not started: ${JSON.stringify(result)}`);
  return result;
}

/** Processes below this process that run a program. */
async function commands(program: string): Promise<number[]> {
  const tree = await processTree(process.pid);
  const lines = await Promise.all(tree.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return tree.filter((_, index) => lines[index]?.startsWith(program));
}

const interpreters = () => commands("/app/.venv/bin/python");

async function cpuTicks(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

test("RUN-3 RUN-4 a prewarmed interpreter becomes a server that is like one with an ordinary start", async () => {
  const environment = { TINY_MODE: "serve", TOKEN: "a 'b' $HOME" };
  const prewarmed = await prewarm();
  const lines: string[] = [];
  const { handle, prewarm: used } = await claimed(prewarmed, instance({ environment }), (_, line) => lines.push(line));
  expect(used).toBe("used");
  const ordinary = await driver.servers.start(instance({ environment }), ignore);
  if (!ordinary.ok) throw new Error("did not start");
  const ask = async (path: string) => [
    await tinyServer.get(handle.endpoint, path),
    await tinyServer.get(ordinary.handle.endpoint, path),
  ];
  const [own, usual] = (await ask("/environment")).map((text) => JSON.parse(text ?? "null"));
  expect(own).toEqual(usual);
  expect(own).toMatchObject(environment);
  expect(await ask("/code")).toEqual(['["server.py"]', '["server.py"]']);
  expect((await ask("/change-code")).map((text) => JSON.parse(text ?? ""))).toEqual([changedCode, changedCode]);
  // Its output before it had a log comes first.
  expect(lines).toEqual(["prewarming", "starting in mode serve"]);
  expect(await handle.freeze()).toBe(true);
  await handle.wake();
  expect((await handle.stop(2000)).reason).toBe("stopped");
  await ordinary.handle.stop(2000);
  await prewarmed.ended;
  expect(await readdir(`${directory}/code`)).toEqual([]);
});

test("RUN-3 an interpreter that waits takes no CPU", async () => {
  const prewarmed = await prewarm();
  const [pid = 0] = await interpreters();
  // It is ready a moment before it waits.
  await expect
    .poll(async () => {
      const before = await cpuTicks(pid);
      await sleep(500);
      return (await cpuTicks(pid)) - before;
    })
    .toBe(0);
  await prewarmed.end();
  expect(await interpreters()).toEqual([]);
});

test.runIf(isThorough)(
  "RUN-1 a server from a prewarmed interpreter has its own limits, higher or lower than those while it waited",
  async () => {
    const limits = { ...testLimits, memoryBytes: 64 * mebibyte };
    const small = await claimed(await prewarm(), instance({ limits }));
    void tinyServer.get(small.handle.endpoint, "/allocate/100");
    expect((await small.handle.exited).reason).toBe("out-of-memory");
    const large = await claimed(await prewarm(), instance({ limits: { ...limits, memoryBytes: 256 * mebibyte } }));
    expect(await tinyServer.get(large.handle.endpoint, "/allocate/180")).toBe("allocated");
    await large.handle.stop(1000);
  },
);

test("RUN-3 a server that may use less memory than the interpreter already does gets an ordinary start", async () => {
  const prewarmed = await prewarm();
  const limits = { ...testLimits, memoryBytes: mebibyte };
  expect(await prewarmed.claim("org-1", instance({ limits }), ignore)).toEqual({ obstacle: "memory" });
  await prewarmed.ended;
  expect(await interpreters()).toEqual([]);
});

test("RUN-1 an interpreter becomes a server of its organization with its layer and network only, and only once", async () => {
  const prewarmed = await prewarm();
  const invalid = { code: "invalid_spec" };
  await expect(prewarmed.claim("org-2", instance(), ignore)).rejects.toMatchObject(invalid);
  const { layers } = server();
  const other = { ...layers, dependencies: "f".repeat(64) };
  await expect(prewarmed.claim("org-1", instance({ layers: other }), ignore)).rejects.toMatchObject(invalid);
  await expect(prewarmed.claim("org-1", instance({ network: "none" }), ignore)).rejects.toMatchObject(invalid);
  const { handle } = await claimed(prewarmed, instance());
  await expect(prewarmed.claim("org-1", instance(), ignore)).rejects.toMatchObject(invalid);
  await prewarmed.end();
  expect(await handle.isAlive()).toBe(true);
  await handle.stop(1000);
});

test.runIf(isThorough)("RUN-4 a variable that could not be passed on is refused as in an ordinary start", async () => {
  const prewarmed = await prewarm();
  const environment = { TOKEN: "a\0b" };
  await expect(prewarmed.claim("org-1", instance({ environment }), ignore)).rejects.toMatchObject({
    code: "invalid_spec",
  });
  await prewarmed.ended;
  const lost = { ...server().layers, code: "f".repeat(64) };
  const waiting = await prewarm();
  await expect(waiting.claim("org-1", instance({ layers: lost }), ignore)).rejects.toMatchObject({
    code: "layer_unavailable",
  });
  await waiting.ended;
});

test.runIf(isThorough)("RUN-6 an interpreter that dies while it waits is reported and leaves nothing", async () => {
  const prewarmed = await prewarm();
  for (const pid of await commands("/usr/bin/bwrap")) process.kill(pid, "SIGKILL");
  await prewarmed.ended;
  expect(await prewarmed.claim("org-1", instance(), ignore)).toEqual({ obstacle: "ended" });
  expect(await readdir(`${directory}/code`)).toEqual([]);
  await expect.poll(() => readdir(`${directory}/i`)).toEqual([]);
  // A frozen process dies only when it is thawed, on hosts with version 1 of control groups.
  const killed = await prewarm();
  for (const pid of await interpreters()) process.kill(pid, "SIGKILL");
  const result = await killed.claim("org-1", instance(), ignore);
  expect(result).not.toMatchObject({ ok: true });
  await killed.ended;
});

test.runIf(isThorough)(
  "RUN-8 a driver that closes while an interpreter starts, or waits, leaves none of its mounts",
  async () => {
    const [usual, parent] = [driver, directory];
    try {
      for (const afterMs of [0, 5, 30, 60, 120, 2000]) {
        const own = `${parent}/closed-${afterMs}`;
        driver = createSandboxDriver({
          ...tinyServer.driverConfig(parent),
          stateDirectory: own,
          instanceDirectory: `${own}/i`,
          ...strictIsolation,
        });
        await driver.host.selfTest();
        const outcome = prewarm().then(
          () => "waits",
          () => "refused",
        );
        await sleep(afterMs);
        await driver.close();
        const mounts = await readFile("/proc/self/mounts", "utf8");
        expect(mounts.split("\n").filter((line) => line.includes(own))).toEqual([]);
        await outcome;
      }
    } finally {
      driver = usual;
    }
  },
);
