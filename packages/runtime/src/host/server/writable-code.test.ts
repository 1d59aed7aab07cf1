import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RuntimeDriver } from "../../port/driver.ts";
import type { InstanceHandle } from "../../port/servers.ts";
import { shortDirectory } from "../../testing/short-directory.ts";
import { changedCode, tinyServer } from "../../testing/tiny-server.ts";
import { strictIsolation } from "../config.ts";
import { createSandboxDriver } from "../driver.ts";

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

async function start(): Promise<InstanceHandle> {
  const spec = { instanceId: randomUUID(), server: tinyServer.server("serve"), startTimeoutMs: 10_000 };
  const result = await driver.servers.start(spec, () => {});
  if (!result.ok) throw new Error(`not started: ${JSON.stringify(result)}`);
  return result.handle;
}

test("BLD-19 RUN-1 a server changes its own copy of the code; the layer and its other instances never see it", async () => {
  const layer = `${directory}/tiny-layers/code`;
  await driver.host.selfTest();
  await writeFile(`${layer}/server.py`, "print()\n");
  const [one, other] = await Promise.all([start(), start()]);
  expect(JSON.parse((await tinyServer.get(one.endpoint, "/change-code")) ?? "")).toEqual(changedCode);
  expect(await tinyServer.get(one.endpoint, "/read-code")).toBe("print()\n# changed\n");
  expect(await tinyServer.get(one.endpoint, "/code")).toBe('["link", "new.log", "server.py"]');
  expect(await tinyServer.get(other.endpoint, "/read-code")).toBe("print()\n");
  expect(await tinyServer.get(other.endpoint, "/code")).toBe('["server.py"]');
  // A full directory is the server's own trouble, and passes.
  expect(await tinyServer.get(one.endpoint, "/fill-code")).toBe("No space left on device");
  expect(await tinyServer.get(one.endpoint)).toMatch(/^hello/);
  await Promise.all([one.stop(1000), other.stop(1000)]);
  const next = await start();
  expect(await tinyServer.get(next.endpoint, "/code")).toBe('["server.py"]');
  await next.stop(1000);
  expect(await readdir(layer)).toEqual(["server.py"]);
  expect(await readFile(`${layer}/server.py`, "utf8")).toBe("print()\n");
});

test("RUN-8 a platform that ends while a server starts unmounts its directory, and starts no more", async () => {
  const mounts = async () => (await readFile("/proc/self/mounts", "utf8")).split("\n").filter(isOwnMount);
  const isOwnMount = (line: string) => line.includes(` ${directory}/`);
  const hanging = { instanceId: randomUUID(), server: tinyServer.server("hang"), startTimeoutMs: 60_000 };
  const begun = Promise.withResolvers<void>();
  const starting = driver.servers.start(hanging, () => begun.resolve());
  await begun.promise;
  if (process.getuid?.() === 0) expect(await mounts()).not.toEqual([]);
  await driver.close();
  expect(await mounts()).toEqual([]);
  expect(await starting).toMatchObject({ ok: false });
  await expect(driver.servers.start({ ...hanging, instanceId: randomUUID() }, () => {})).rejects.toThrow("closed");
  expect(await mounts()).toEqual([]);
});
