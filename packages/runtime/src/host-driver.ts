import { readdir } from "node:fs/promises";
import { HostBuilds } from "./build/host-builds.ts";
import type { Engine, HostDriverConfig } from "./engine.ts";
import type { RuntimeDriver } from "./port.ts";
import { HostPrewarm, socketDirectoryName } from "./prewarm/host-prewarm.ts";
import { removeDirectory } from "./process/remove-directory.ts";
import { retryFailedSandbox } from "./process/retry-failed-sandbox.ts";
import { bringPython } from "./python/bring-python.ts";
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
  let keepsData: Promise<{ readonly ok: boolean; readonly detail: string }> | null = null;
  return {
    name: engine.name,
    async selfTest() {
      const isolation = await engine.selfTest();
      const { volumes } = config;
      if (volumes === undefined) return isolation;
      keepsData ??= volumes.selfTest();
      const check = { name: "data quota", ...(await keepsData), required: false };
      return { ...isolation, checks: [...isolation.checks, check] };
    },
    async start({ instanceId, server, startTimeoutMs, memo }, onOutput) {
      const sandbox = serverSandboxSpec(server, await serverFiles(server, config), startTimeoutMs);
      const socketDirectory = `${config.instanceDirectory}/${directoryNameOf(instanceId)}`;
      const launch = { instanceId, sandbox, socketDirectory, startTimeoutMs, memo };
      return await retryFailedSandbox(
        onOutput,
        (sink) => engine.start(launch, sink),
        (result) => !result.ok && result.cause === "exited",
        (result) => !result.ok && result.exit?.reason === "platform-ended",
      );
    },
    prewarm: (spec) => prewarmed.start(spec),
    pythons: () => installedPythons(config),
    findPython: async (request) => (await resolvePython(config, request))?.version ?? null,
    async bringPython(request) {
      const { downloads, uv } = config;
      if (downloads === undefined) return { ok: false, reason: "Downloads of Pythons are switched off." };
      const brought = await bringPython(uv, downloads, request);
      if (!brought.ok) return brought;
      const found = await resolvePython(config, brought.version);
      const broken = `Python ${brought.version} was installed, but does not run on this machine.`;
      return found === null ? { ok: false, reason: broken } : { ...brought, version: found.version };
    },
    dataUsage: async () => (await config.volumes?.usage()) ?? [],
    async removeData(kept) {
      const ids = (await config.volumes?.list()) ?? [];
      if (ids.length === 0) return [];
      const keep = await kept(ids);
      const removed = ids.filter((id) => !keep.has(id));
      for (const id of removed) await config.volumes?.remove(id);
      return removed;
    },
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
    async close() {
      await engine.close();
      await config.volumes?.close();
    },
  };
}

/** The last 12 digits of a UUIDv7 are random; the path must stay short. */
const directoryNameOf = (instanceId: string) => instanceId.slice(-12);
