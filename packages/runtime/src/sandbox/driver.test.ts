import { strictIsolation } from "../config.ts";
import { runtimeDriverContract } from "../testing/contract.ts";
import { createSandboxDriver } from "./driver.ts";

runtimeDriverContract("sandbox", (stateDirectory) => createSandboxDriver({ stateDirectory, ...strictIsolation }));
