import { readdir } from "node:fs/promises";
import { availableParallelism, hostname, totalmem } from "node:os";
import type { Capability, RuntimeDriver } from "../port/driver.ts";
import type { HostReport, LastingData, Pythons } from "../port/host.ts";
import type { ServerDriver } from "../port/servers.ts";
import { HostBuilds } from "./build/host-builds.ts";
import type { Volumes } from "./data/volumes.ts";
import { hostDisk } from "./disk.ts";
import type { Engine, HostDriverConfig } from "./engine.ts";
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

/** Implements the ports on an engine of this host: resolves layers and Pythons to commands and mounts. */
export function createHostDriver(engine: Engine, config: HostDriverConfig): RuntimeDriver {
  const { volumes, codeDirectory } = config;
  const canPrewarm = engine.prewarm !== undefined && codeDirectory !== undefined;
  return {
    name: engine.name,
    capabilities: new Set<Capability>([
      ...(["freeze", "memory"] as const),
      ...(canPrewarm ? (["prewarm"] as const) : []),
      ...(volumes === undefined ? [] : (["lastingData"] as const)),
    ]),
    servers: hostServers(engine, config),
    builds: new HostBuilds(engine, config),
    host: hostReport(engine, config),
    async close() {
      await engine.close();
      await volumes?.close();
    },
  };
}

/** How long a layer that no server uses stays unpacked. */
const layerUnusedMs = 6 * 3_600_000;

function hostServers(engine: Engine, config: HostDriverConfig): ServerDriver {
  const prewarmed = new HostPrewarm(engine, config);
  const { instanceDirectory, layers } = config;
  return {
    async start({ instanceId, server, startTimeoutMs, memo }, onOutput) {
      const sandbox = serverSandboxSpec(server, await serverFiles(server, config), startTimeoutMs);
      const socketDirectory = `${instanceDirectory}/${directoryNameOf(instanceId)}`;
      const launch = { instanceId, sandbox, socketDirectory, startTimeoutMs, memo };
      return await retryFailedSandbox(
        onOutput,
        (sink) => engine.start(launch, sink),
        (result) => !result.ok && result.cause === "exited",
        (result) => !result.ok && result.exit?.reason === "platform-ended",
      );
    },
    prewarm: (spec) => prewarmed.start(spec),
    async adopt(claim) {
      const adopted = await engine.adopt(claim);
      const inUse = new Set(adopted.map(({ handle }) => socketDirectoryName(handle)));
      await prewarmed.adopt(adopted.map(({ handle }) => handle));
      const present = await readdir(instanceDirectory).catch(() => []);
      // The engine has unmounted them. Directories that can't be removed now do no harm.
      const leftovers = present.filter((name) => !inUse.has(name));
      await Promise.all(leftovers.map((name) => removeDirectory(`${instanceDirectory}/${name}`).catch(() => {})));
      return adopted;
    },
    async evictLayers(inUse) {
      await layers.evict({ inUse, unusedForMs: layerUnusedMs });
    },
  };
}

/** The last 12 digits of a UUIDv7 are random; the path must stay short. */
const directoryNameOf = (instanceId: string) => instanceId.slice(-12);

function hostReport(engine: Engine, config: HostDriverConfig): HostReport {
  const { volumes } = config;
  let keepsData: ReturnType<Volumes["selfTest"]> | null = null;
  return {
    name: hostname(),
    capacity: {
      // In a container, the container's limit.
      memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
      processors: availableParallelism(),
    },
    async selfTest() {
      const isolation = await engine.selfTest();
      if (volumes === undefined) return isolation;
      keepsData ??= volumes.selfTest();
      const check = { name: "data quota", ...(await keepsData), required: false };
      return { ...isolation, checks: [...isolation.checks, check] };
    },
    pythons: hostPythons(config),
    disk: hostDisk(config.dataDirectory),
    data: hostData(volumes),
  };
}

const hostPythons = (config: HostDriverConfig): Pythons => ({
  list: () => installedPythons(config),
  find: async (request) => (await resolvePython(config, request))?.version ?? null,
  async bring(request) {
    const { downloads, uv } = config;
    if (downloads === undefined) return { ok: false, reason: "Downloads of Pythons are switched off." };
    const brought = await bringPython(uv, downloads, request);
    if (!brought.ok) return brought;
    const found = await resolvePython(config, brought.version);
    const broken = `Python ${brought.version} was installed, but does not run on this machine.`;
    return found === null ? { ok: false, reason: broken } : { ...brought, version: found.version };
  },
});

const hostData = (volumes: Volumes | undefined): LastingData => ({
  usage: async () => (await volumes?.usage()) ?? [],
  // What keeps this host from having any is in its report.
  problem: () => null,
  async remove(kept) {
    const ids = (await volumes?.list()) ?? [];
    if (ids.length === 0) return [];
    const keep = await kept(ids);
    const removed = ids.filter((id) => !keep.has(id));
    for (const id of removed) await volumes?.remove(id);
    return removed;
  },
});
