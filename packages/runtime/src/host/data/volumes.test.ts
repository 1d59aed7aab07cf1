import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RuntimeDriver } from "../../port/driver.ts";
import type { InstanceHandle } from "../../port/servers.ts";
import { createFakeDriver } from "../../testing/fake-driver.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { tinyServer } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import { createSandboxDriver } from "../driver.ts";
import { Volumes } from "./volumes.ts";

const mebibyte = 1024 ** 2;
let directory = "";
let driver: RuntimeDriver;
const volumesOf = (name: string) =>
  new Volumes({ directory: `${directory}/${name}`, mountDirectory: `${directory}/m-${name}`, bytes: 16 * mebibyte });
const createDriver = (volumes: Volumes) =>
  createSandboxDriver({
    ...tinyServer.driverConfig(directory),
    ...strictIsolation,
    stateDirectory: directory,
    volumes,
  });

beforeAll(async () => {
  directory = await shortDirectory();
  driver = createDriver(volumesOf("volumes"));
});
afterAll(async () => {
  await driver.close();
  await rm(directory, { recursive: true, force: true });
});

async function start(dataVolume?: string): Promise<InstanceHandle> {
  const server = tinyServer.server("serve", dataVolume === undefined ? {} : { dataVolume });
  const result = await driver.servers.start({ instanceId: randomUUID(), server, startTimeoutMs: 10_000 }, () => {});
  if (!result.ok) throw new Error(`not started: ${JSON.stringify(result)}`);
  return result.handle;
}
const mounts = () =>
  readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .filter((line) => line.includes(directory));

describe.runIf(process.getuid?.() === 0)("BLD-19 /data", () => {
  test("BLD-19 RUN-1 a server's data outlives it, within its quota; other servers don't see it", async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const first = await start(one);
    expect(await tinyServer.get(first.endpoint, "/data")).toBe("[]");
    expect(await tinyServer.get(first.endpoint, "/data/write/1")).toBe("written");
    // Both sides of a redeploy see the same.
    const next = await start(one);
    expect(await tinyServer.get(next.endpoint, "/data")).toBe('["1"]');
    expect(await tinyServer.get(next.endpoint, "/data/write/2")).toBe("written");
    expect(await tinyServer.get(first.endpoint, "/data")).toBe('["1", "2"]');
    await first.stop(1000);
    await next.stop(1000);
    expect(await driver.host.data.usage()).toEqual([
      { id: one, usedBytes: expect.any(Number), capacityBytes: expect.any(Number) },
    ]);
    // The platform ends and starts again: another user id or mount would show here.
    await driver.close();
    expect(mounts()).toEqual([]);
    driver = createDriver(volumesOf("volumes"));
    const [again, other, without] = await Promise.all([start(one), start(two), start()]);
    expect(await tinyServer.get(again.endpoint, "/data")).toBe('["1", "2"]');
    expect(await tinyServer.get(again.endpoint, "/data/write/1")).toBe("written");
    expect(await tinyServer.get(again.endpoint, "/data/fill")).toBe("No space left on device");
    expect(await tinyServer.get(again.endpoint, "/data/write/2")).toBe("written");
    for (const each of [other, without]) expect(await tinyServer.get(each.endpoint, "/data")).toBe("[]");
    // Without a volume it is a directory like the others: in memory.
    expect(await tinyServer.get(without.endpoint, "/data/write/1")).toBe("written");
    const [used] = (await driver.host.data.usage()).filter(({ id }) => id === one);
    expect(used?.capacityBytes).toBeLessThan(16 * mebibyte);
    await Promise.all([again, other, without].map((each) => each.stop(1000)));
    await driver.host.data.remove(async (ids) => new Set(ids.filter((id) => id === two)));
    expect(await volumesOf("volumes").list()).toEqual([two]);
    const empty = await start(one);
    expect(await tinyServer.get(empty.endpoint, "/data")).toBe("[]");
    await empty.stop(1000);
  });

  test("BLD-19 two starts at the same time make one volume", async () => {
    const volumes = volumesOf("race");
    const id = randomUUID();
    const [one, other] = await Promise.all([volumes.open(id), volumes.open(id)]);
    expect(one).toBe(other);
    expect(mounts().filter((line) => line.includes(id))).toHaveLength(1);
    await volumes.close();
    expect(() => volumes.open("../escape")).toThrow("not valid in a path");
  });

  test("BLD-19 the self-test shows whether the host can keep data, and leaves nothing behind", async () => {
    const volumes = volumesOf("tested");
    expect(await volumes.selfTest()).toMatchObject({ ok: true });
    expect(await volumes.list()).toEqual([]);
    expect(mounts().filter((line) => line.includes("m-tested"))).toEqual([]);
  });
});

test("BLD-19 a host that can't limit /data starts no server that keeps data, and reports why", async () => {
  const full = new Volumes({ directory: `${directory}/full`, mountDirectory: `${directory}/m`, bytes: 1024 ** 5 });
  const refused = full.open("a");
  await expect(refused).rejects.toMatchObject({
    code: "data_unavailable",
    message: expect.stringContaining("too little room"),
  });
  await writeFile(`${directory}/file`, "");
  const nowhere = new Volumes({
    directory: `${directory}/file/volumes`,
    mountDirectory: `${directory}/m`,
    bytes: mebibyte,
  });
  expect(await nowhere.selfTest()).toMatchObject({ ok: false, detail: expect.stringContaining("It takes root") });
  const server = tinyServer.server("serve", { dataVolume: randomUUID() });
  const without = createFakeDriver(tinyServer.driverConfig(directory));
  const started = without.servers.start({ instanceId: randomUUID(), server, startTimeoutMs: 1000 }, () => {});
  await expect(started).rejects.toMatchObject({ code: "data_unavailable" });
  await without.close();
});
