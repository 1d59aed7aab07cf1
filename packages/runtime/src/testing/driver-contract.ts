import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Capability, RuntimeDriver } from "../port/driver.ts";
import type { OutputSink } from "../port/execution.ts";
import type { InstanceHandle, InstanceSpec, PrewarmSpec, ServerSpec } from "../port/servers.ts";
import { buildTests } from "./build-contract.ts";
import { shortDirectory } from "./short-directory.ts";
import { tinyServer } from "./tiny-server.ts";

/** What a driver sets itself, regardless of the platform's environment. */
const serverVariables = [
  "HOME",
  "LANG",
  "PATH",
  "PWD",
  "PYTHONDONTWRITEBYTECODE",
  "PYTHONPATH",
  "PYTHONUNBUFFERED",
  "TMPDIR",
  "VIRTUAL_ENV",
];

export function collect(): { lines: string[]; onOutput: OutputSink } {
  const lines: string[] = [];
  return { lines, onOutput: (stream, line) => lines.push(`${stream}: ${line}`) };
}

/**
 * The contract of every driver; for each capability, its behavior with and without it. Runs real processes; needs uv,
 * and Python 3.11 at /usr/bin/python3 or elsewhere.
 */
export function driverContract(
  name: string,
  claims: readonly Capability[],
  makeDriver: (directory: string) => RuntimeDriver,
): void {
  describe(`driver contract: ${name}`, () => {
    let directory = "";
    let driver: RuntimeDriver;
    const get = () => driver;
    beforeAll(async () => {
      directory = await shortDirectory();
      driver = makeDriver(directory);
    });
    afterAll(async () => {
      await driver.close();
      await rm(directory, { recursive: true, force: true });
    });

    test("it claims its capabilities", () => {
      expect([...driver.capabilities].toSorted()).toEqual(claims.toSorted());
    });
    serverTests(get);
    freezeTest(get, claims.includes("freeze"));
    memoryTest(get, claims.includes("memory"));
    prewarmTest(get, claims.includes("prewarm"));
    lastingDataTest(get, claims.includes("lastingData"));
    buildTests(get);
    hostTests(get);
  });
}

const ignore: OutputSink = () => {};
export const instanceOf = (
  mode: Parameters<typeof tinyServer.server>[0],
  change: Partial<ServerSpec> = {},
): InstanceSpec => ({ instanceId: randomUUID(), server: tinyServer.server(mode, change), startTimeoutMs: 10_000 });

export async function startedBy(driver: RuntimeDriver, spec: InstanceSpec, onOutput = ignore): Promise<InstanceHandle> {
  const result = await driver.servers.start(spec, onOutput);
  if (!result.ok) throw new Error(`did not start: ${JSON.stringify(result)}`);
  return result.handle;
}

function serverTests(driver: () => RuntimeDriver): void {
  test("RUN-3 a server starts, answers and stops", async () => {
    const { lines, onOutput } = collect();
    const handle = await startedBy(driver(), instanceOf("serve"), onOutput);
    expect(await tinyServer.get(handle.endpoint)).toMatch(/^hello from \d+$/);
    expect(await handle.isAlive()).toBe(true);
    const [exit, again] = await Promise.all([handle.stop(2000), handle.stop(2000)]);
    expect(exit.reason).toBe("stopped");
    expect(again).toEqual(exit);
    expect(await handle.exited).toEqual(exit);
    expect(await tinyServer.get(handle.endpoint, "/", 400)).toBeNull();
    expect(lines).toContain("stdout: starting in mode serve");
  });

  test("a missing layer or Python is reported to the owner of the server", async () => {
    const { layers } = tinyServer.server("serve");
    const lost = instanceOf("serve", { layers: { ...layers, code: "f".repeat(64) } });
    await expect(driver().servers.start(lost, ignore)).rejects.toMatchObject({ code: "layer_unavailable" });
    const old = instanceOf("serve", { pythonVersion: "3.1.4" });
    await expect(driver().servers.start(old, ignore)).rejects.toMatchObject({ code: "python_unavailable" });
  });

  test("RUN-4 a server's environment has its variables and nothing of the platform's", async () => {
    const environment = { ...tinyServer.server("serve").environment, TOKEN: "a 'b' $HOME" };
    const handle = await startedBy(driver(), instanceOf("serve", { environment }));
    const found = JSON.parse((await tinyServer.get(handle.endpoint, "/environment")) ?? "{}");
    expect(found).toMatchObject(environment);
    expect(Object.keys(found).filter((name) => name in process.env && !serverVariables.includes(name))).toEqual([]);
    await handle.stop(100);
  });

  test("a server that fails reports the reason from the harness", async () => {
    expect(await driver().servers.start(instanceOf("fail"), ignore)).toMatchObject({
      ok: false,
      cause: "harness",
      status: { code: "module_missing", module: "nowhere" },
    });
  });

  test("a server that exits silently, and one that never answers, fail to start", async () => {
    const { lines, onOutput } = collect();
    const ended = await driver().servers.start(instanceOf("exit"), onOutput);
    expect(ended).toMatchObject({ ok: false, cause: "exited", exit: { reason: "exited", code: 7 } });
    expect(lines).toContain("stderr: nothing to do");
    const hanging = { ...instanceOf("hang"), startTimeoutMs: 800 };
    expect(await driver().servers.start(hanging, ignore)).toMatchObject({ ok: false, cause: "timeout" });
  });

  test("a server that crashes resolves `exited`", async () => {
    const handle = await startedBy(driver(), instanceOf("serve"));
    await tinyServer.get(handle.endpoint, "/crash");
    await expect.poll(() => handle.isAlive()).toBe(false);
    expect(await handle.exited).toEqual({ reason: "exited", code: 3, signal: null });
    expect((await handle.stop(100)).code).toBe(3);
  });

  test("RUN-5 a flood is limited and reported, and does no harm", async () => {
    const lines: string[] = [];
    const handle = await startedBy(driver(), instanceOf("flood"), (_, line) => lines.push(line));
    // The limit is so many lines in a time.
    await sleep(2500);
    expect(await tinyServer.get(handle.endpoint)).toMatch(/^hello/);
    await handle.stop(500);
    expect(lines.length).toBeLessThan(12_000);
    expect(lines.some((line) => /^… \d+ lines \(\d+ bytes\) dropped/.test(line))).toBe(true);
  });
}

function freezeTest(driver: () => RuntimeDriver, isClaimed: boolean): void {
  test(`RUN-3 a server ${isClaimed ? "freezes and wakes" : "that can't freeze keeps running"}`, async () => {
    const handle = await startedBy(driver(), instanceOf("serve"));
    const greeting = await tinyServer.get(handle.endpoint);
    expect([await handle.freeze(), await handle.freeze()]).toEqual([isClaimed, isClaimed]);
    expect(await tinyServer.get(handle.endpoint, "/", 400)).toBe(isClaimed ? null : greeting);
    await handle.wake();
    await handle.wake();
    expect(await tinyServer.get(handle.endpoint)).toBe(greeting);
    await handle.freeze();
    expect((await handle.stop(2000)).reason).toBe("stopped");
  });
}

function memoryTest(driver: () => RuntimeDriver, isClaimed: boolean): void {
  test(`a server's memory is ${isClaimed ? "measured" : "unknown"}`, async () => {
    const handle = await startedBy(driver(), instanceOf("serve"));
    const bytes = await handle.memoryBytes();
    if (isClaimed) expect(bytes).toBeGreaterThan(1024 * 1024);
    else expect(bytes).toBeNull();
    await handle.stop(100);
  });
}

function prewarmTest(driver: () => RuntimeDriver, isClaimed: boolean): void {
  const { layers, ...server } = tinyServer.server("serve");
  const spec: PrewarmSpec = {
    organizationId: "org-1",
    dependencies: layers.dependencies,
    startTimeoutMs: 10_000,
    pythonVersion: server.pythonVersion,
    network: server.network,
    limits: server.limits,
  };
  test(`RUN-3 an interpreter ${isClaimed ? "becomes the server of its organization, once" : "isn't prewarmed"}`, async () => {
    const result = await driver().servers.prewarm(spec);
    if (!isClaimed) return expect(result).toMatchObject({ ok: false, isFinal: true });
    if (!result.ok) throw new Error(result.reason);
    const { prewarmed } = result;
    const other = prewarmed.claim("org-2", instanceOf("serve"), ignore);
    await expect(other).rejects.toMatchObject({ code: "invalid_spec" });
    const claimed = await prewarmed.claim("org-1", instanceOf("serve"), ignore);
    if (!("ok" in claimed) || !claimed.ok) throw new Error(`did not start: ${JSON.stringify(claimed)}`);
    expect(await tinyServer.get(claimed.handle.endpoint)).toMatch(/^hello/);
    await expect(prewarmed.claim("org-1", instanceOf("serve"), ignore)).rejects.toMatchObject({ code: "invalid_spec" });
    await claimed.handle.stop(100);
    await prewarmed.ended;
  });
}

function lastingDataTest(driver: () => RuntimeDriver, isClaimed: boolean): void {
  const [one, other] = [randomUUID(), randomUUID()];
  test(`BLD-19 ${isClaimed ? "a server's data outlives it" : "a server that keeps data doesn't start"}`, async () => {
    const { servers, host } = driver();
    const keeping = (dataVolume: string) => instanceOf("serve", { dataVolume });
    if (!isClaimed) {
      await expect(servers.start(keeping(one), ignore)).rejects.toMatchObject({ code: "data_unavailable" });
      expect([await host.data.usage(), await host.data.remove(async () => new Set())]).toEqual([[], []]);
      return;
    }
    const first = await startedBy(driver(), keeping(one));
    expect(await tinyServer.get(first.endpoint, "/data/write/1")).toBe("written");
    await first.stop(1000);
    const [again, stranger] = await Promise.all(
      [keeping(one), keeping(other)].map((spec) => startedBy(driver(), spec)),
    );
    expect(await tinyServer.get(again?.endpoint, "/data")).toBe('["1"]');
    expect(await tinyServer.get(stranger?.endpoint, "/data")).toBe("[]");
    await Promise.all([again?.stop(1000), stranger?.stop(1000)]);
    expect((await host.data.usage()).map(({ id }) => id).toSorted()).toEqual([one, other].toSorted());
    expect(await host.data.remove(async () => new Set([other]))).toEqual([one]);
  });
}

function hostTests(driver: () => RuntimeDriver): void {
  test("BLD-18 a driver lists its Pythons", async () => {
    const { pythons } = driver().host;
    const version = await pythons.find("3.11");
    expect(version).toMatch(/^3\.11\.\d+$/);
    expect(await pythons.list()).toContainEqual({ version, isDownloaded: false });
    expect(await pythons.find("3.1")).toBeNull();
  });

  test("LOG-6 a driver reports the capacity of its servers and its disk", async () => {
    const { capacity, disk, name } = driver().host;
    expect(name).toMatch(/./);
    expect(Math.min(capacity.memoryBytes, capacity.processors)).toBeGreaterThan(0);
    const { freeBytes, totalBytes } = await disk.space();
    expect(freeBytes).toBeLessThanOrEqual(totalBytes);
    const kinds = Object.values(await disk.measure(new AbortController().signal));
    expect(Math.min(...kinds)).toBeGreaterThanOrEqual(0);
  });
}
