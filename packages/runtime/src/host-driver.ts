import { readdir } from "node:fs/promises";
import { HostBuilds } from "./build/host-builds.ts";
import type { Engine, HostDriverConfig } from "./engine.ts";
import type { RuntimeDriver } from "./port.ts";
import { HostPrewarm, socketDirectoryName } from "./prewarm/host-prewarm.ts";
import { removeDirectory } from "./process/remove-directory.ts";
import { retryFailedSandbox } from "./process/retry-failed-sandbox.ts";
import { installedPythons, resolvePython } from "./python/resolve-python.ts";
import { createSandboxEngine, type SandboxEngineConfig } from "./sandbox/engine.ts";
import { serverFiles } from "./server/server-files.ts";
import { serverSandboxSpec } from "./server/server-spec.ts";

export type SandboxDriverConfig = SandboxEngineConfig & HostDriverConfig;

/** The driver for this host: runs servers and build steps in bubblewrap, once the self-test has passed. */
export const createSandboxDriver = (config: SandboxDriverConfig): RuntimeDriver =>
  createHostDriver(createSandboxEngine(config), config);

/** Implements the driver port on an engine of this host: resolves layers and Pythons to commands and mounts. */
export function createHostDriver(engine: Engine, config: HostDriverConfig): RuntimeDriver {
  const builds = new HostBuilds(engine, config);
  const prewarmed = new HostPrewarm(engine, config);
  return {
    name: engine.name,
    selfTest: () => engine.selfTest(),
    async start({ instanceId, server, startTimeoutMs, memo }, onOutput) {
      const sandbox = serverSandboxSpec(server, await serverFiles(server, config));
      const socketDirectory = `${config.instanceDirectory}/${directoryNameOf(instanceId)}`;
      const launch = { instanceId, sandbox, socketDirectory, startTimeoutMs, memo };
      return await retryFailedSandbox(
        onOutput,
        (sink) => engine.start(launch, sink),
        (result) => !result.ok && result.cause === "exited",
      );
    },
    prewarm: (spec) => prewarmed.start(spec),
    pythons: () => installedPythons(config.uv),
    findPython: async (request) => (await resolvePython({ uv: config.uv, version: request }))?.version ?? null,
    openBuild: (spec) => builds.open(spec),
    removeLostBuilds: () => builds.removeLost(),
    async adopt(claim) {
      const adopted = await engine.adopt(claim);
      const inUse = new Set(adopted.map(({ handle }) => socketDirectoryName(handle)));
      await prewarmed.adopt(adopted.map(({ handle }) => handle));
      const present = await readdir(config.instanceDirectory).catch(() => []);
      // The engine has unmounted them. What can't be removed now does no harm.
      const leftovers = present.filter((name) => !inUse.has(name));
      await Promise.all(
        leftovers.map((name) => removeDirectory(`${config.instanceDirectory}/${name}`).catch(() => {})),
      );
      return adopted;
    },
    close: () => engine.close(),
  };
}

/** The last 12 digits of a UUIDv7 are random; the path must stay short. */
const directoryNameOf = (instanceId: string) => instanceId.slice(-12);
