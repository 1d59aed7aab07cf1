import { strictIsolation } from "./config.ts";
import { createSandboxDriver } from "./host-driver.ts";
import { runtimeDriverContract } from "./testing/contract.ts";
import { createFakeDriver } from "./testing/fake-driver.ts";
import { tinyServer } from "./testing/tiny-server.ts";

runtimeDriverContract("sandbox", (directory) =>
  createSandboxDriver({ ...tinyServer.driverConfig(directory), ...strictIsolation, stateDirectory: directory }),
);
runtimeDriverContract("fake", (directory) => createFakeDriver(tinyServer.driverConfig(directory)));
