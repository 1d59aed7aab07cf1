import { join } from "node:path";
import type { DriverRole, RuntimeDriver } from "../port/driver.ts";
import type { DataCopies } from "../port/host.ts";
import type { SandboxSettings } from "./config.ts";
import { volumeCopies } from "./data/volume-copies.ts";
import { Volumes } from "./data/volumes.ts";
import { createSandboxDriver } from "./driver.ts";
import type { HostLayers } from "./engine.ts";

/** Time for an operator, or a supervisor of the launcher, to start the instance again. */
const orphanedMs = 60_000;

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
    volumes: new Volumes({ ...volumeDirectories(settings), bytes: dataBytes }),
    shim: { generation: identity.generation, waitMs: adoptWithinMs, orphanedMs, onSuperseded },
  });
}

type Directories = Pick<SandboxSettings, "dataDirectory" | "runDirectory">;

const volumeDirectories = ({ dataDirectory, runDirectory }: Directories) => ({
  directory: join(dataDirectory, "volumes"),
  mountDirectory: join(runDirectory, "volumes"),
});

/** Copies are made in `trash/`, where the clean-up removes those that a killed process left. */
export function openSandboxDataCopies(directories: Directories): DataCopies {
  // It makes no new ones.
  const volumes = new Volumes({ ...volumeDirectories(directories), bytes: 0 });
  return volumeCopies(volumes, join(directories.dataDirectory, "trash"));
}
