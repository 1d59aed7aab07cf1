import { driverContract } from "../testing/driver-contract.ts";
import { engineContract } from "../testing/engine-contract.ts";
import { isolationContract } from "../testing/isolation-contract.ts";
import { tinyServer } from "../testing/tiny-server.ts";
import { strictIsolation } from "./config.ts";
import { Volumes } from "./data/volumes.ts";
import { createSandboxDriver } from "./driver.ts";
import { createSandboxEngine } from "./sandbox/engine.ts";

// Run by `./towpath test gvisor`, because it needs runsc and root.

const isolation = { ...strictIsolation, kernel: "gvisor" } as const;

engineContract("gvisor", (stateDirectory) => createSandboxEngine({ stateDirectory, ...isolation }));
// It stops listening when its socket is gone.
isolationContract("gvisor", { visibleProcesses: "[1]", withoutItsSocket: null });
driverContract("gvisor", ["freeze", "memory", "prewarm", "lastingData"], (directory) =>
  createSandboxDriver({
    ...tinyServer.driverConfig(directory),
    ...isolation,
    stateDirectory: directory,
    volumes: new Volumes({
      directory: `${directory}/volumes`,
      mountDirectory: `${directory}/v`,
      bytes: 16 * 1024 ** 2,
    }),
  }),
);
