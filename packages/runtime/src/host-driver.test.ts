import { strictIsolation } from "./config.ts";
import { createSandboxDriver } from "./host-driver.ts";
import { createSandboxEngine } from "./sandbox/engine.ts";
import { runtimeDriverContract } from "./testing/contract.ts";
import { engineContract } from "./testing/engine-contract.ts";
import { createFakeDriver, createFakeEngine } from "./testing/fake-driver.ts";
import { tinyServer } from "./testing/tiny-server.ts";

engineContract("sandbox", (stateDirectory) => createSandboxEngine({ stateDirectory, ...strictIsolation }));
engineContract("fake", () => createFakeEngine());
runtimeDriverContract("sandbox", (directory) =>
  createSandboxDriver({ ...tinyServer.driverConfig(directory), ...strictIsolation, stateDirectory: directory }),
);
runtimeDriverContract("fake", (directory) => createFakeDriver(tinyServer.driverConfig(directory)));
