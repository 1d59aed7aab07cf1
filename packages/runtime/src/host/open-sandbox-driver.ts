import { join } from "node:path";
import type { DriverRole, RuntimeDriver } from "../port/driver.ts";
import type { SandboxSettings } from "./config.ts";
import { Volumes } from "./data/volumes.ts";
import { createSandboxDriver } from "./driver.ts";
import type { HostLayers } from "./engine.ts";

/** The driver for this host. Its directories depend on the role of the process. */
export function openSandboxDriver(settings: SandboxSettings, layers: HostLayers, role: DriverRole): RuntimeDriver {
  const { dataDirectory, runDirectory, dataBytes, isolation, ...others } = settings;
  const common = { dataDirectory, stateDirectory: runDirectory, layers, ...isolation, ...others };
  if (role.kind === "builds") return createSandboxDriver({ ...common, instanceDirectory: join(runDirectory, "b") });
  const { identity, adoptWithinMs, onSuperseded } = role;
  return createSandboxDriver({
    ...common,
    instanceDirectory: join(runDirectory, "i"),
    // On the file system of the layers, for hard links to them.
    codeDirectory: join(dataDirectory, "cache", "code"),
    volumes: new Volumes({
      directory: join(dataDirectory, "volumes"),
      mountDirectory: join(runDirectory, "volumes"),
      bytes: dataBytes,
    }),
    shim: { generation: identity.generation, waitMs: adoptWithinMs, onSuperseded },
  });
}
