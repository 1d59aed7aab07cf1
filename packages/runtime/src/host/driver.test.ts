import { rm } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { RuntimeDriver } from "../port/driver.ts";
import { driverContract, instanceOf, startedBy } from "../testing/driver-contract.ts";
import { engineContract } from "../testing/engine-contract.ts";
import { createFakeDriver, createFakeEngine } from "../testing/fake-driver.ts";
import { shortDirectory } from "../testing/short-directory.ts";
import { tinyServer } from "../testing/tiny-server.ts";
import { strictIsolation } from "./config.ts";
import { Volumes } from "./data/volumes.ts";
import { createSandboxDriver } from "./driver.ts";
import { createSandboxEngine } from "./sandbox/engine.ts";

engineContract("sandbox", (stateDirectory) => createSandboxEngine({ stateDirectory, ...strictIsolation }));
engineContract("fake", () => createFakeEngine());

const sandbox = (directory: string): RuntimeDriver => {
  const volumes = { directory: `${directory}/volumes`, mountDirectory: `${directory}/v`, bytes: 16 * 1024 ** 2 };
  // Only root can mount them.
  const lasting = process.getuid?.() === 0 ? { volumes: new Volumes(volumes) } : {};
  const config = { ...tinyServer.driverConfig(directory), ...strictIsolation, stateDirectory: directory };
  return createSandboxDriver({ ...config, ...lasting });
};
const fake = (directory: string) => createFakeDriver(tinyServer.driverConfig(directory));
const always = ["freeze", "memory"] as const;
const asRoot = process.getuid?.() === 0 ? (["lastingData"] as const) : [];
driverContract("sandbox", [...always, "prewarm", ...asRoot], sandbox);
driverContract("fake", always, fake);

describe.each([
  ["sandbox", sandbox],
  ["fake", fake],
] as const)("on one host: %s", (_, makeDriver) => {
  const withDriver = async (run: (driver: RuntimeDriver) => Promise<void>) => {
    const directory = await shortDirectory();
    const driver = makeDriver(directory);
    await run(driver).finally(() => driver.close());
    await rm(directory, { recursive: true, force: true });
  };

  test("a link in place of the socket is not accepted", () =>
    withDriver(async ({ servers }) => {
      const linking = { ...instanceOf("link"), startTimeoutMs: 800 };
      expect(await servers.start(linking, () => {})).toMatchObject({ ok: false, cause: "timeout" });
    }));

  test("a server that crashes isn't alive before its exit is reported", () =>
    withDriver(async (driver) => {
      const handle = await startedBy(driver, instanceOf("serve"));
      await tinyServer.get(handle.endpoint, "/crash");
      expect(await handle.isAlive()).toBe(false);
      expect(await handle.exited).toEqual({ reason: "exited", code: 3, signal: null });
    }));
});
