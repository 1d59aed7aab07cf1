import { readdir } from "node:fs/promises";
import type { Engine } from "./engine.ts";
import { SandboxError } from "./errors.ts";
import type { RuntimeDriver, ServerSpec } from "./port.ts";
import { removeFolder } from "./process/remove-folder.ts";
import { type ResolvedPython, resolvePython } from "./python/resolve-python.ts";
import { createSandboxEngine, type SandboxEngineConfig } from "./sandbox/engine.ts";
import { harnessDirectory, type ServerFiles, serverSandboxSpec } from "./server/server-spec.ts";

/** Unpacked layers on this host: the layer cache of packages/artifacts. */
export type HostLayers = {
  /** Absolute path of a layer. @throws an error with code `not_found` or `digest_mismatch` */
  get(digest: string): Promise<string>;
};

export type HostDriverConfig = {
  /** Directories of instances, with their sockets, are made below. A short path: that of a socket has 107 bytes. */
  readonly instanceDirectory: string;
  readonly layers: HostLayers;
  /** Path of uv, which finds the Pythons of this host. TOWPATH_UV. */
  readonly uv: string;
  /** Directory that holds the package towpath_runner, unless it is this checkout's. For tests. */
  readonly harness?: string;
};

export type SandboxDriverConfig = SandboxEngineConfig & HostDriverConfig;

/** The driver for this host: servers and build steps in bubblewrap. Nothing runs before the self-test has passed. */
export const createSandboxDriver = (config: SandboxDriverConfig): RuntimeDriver =>
  createHostDriver(createSandboxEngine(config), config);

/** The driver port on an engine of this host: finds what a spec names, and makes commands and mounts of it. */
export function createHostDriver(engine: Engine, config: HostDriverConfig): RuntimeDriver {
  return {
    name: engine.name,
    selfTest: () => engine.selfTest(),
    run: (spec, options) => engine.run(spec, options),
    async start({ instanceId, server, startTimeoutMs, memo }, onOutput) {
      const sandbox = serverSandboxSpec(server, await serverFiles(server, config));
      const socketDirectory = `${config.instanceDirectory}/${directoryNameOf(instanceId)}`;
      return await engine.start({ instanceId, sandbox, socketDirectory, startTimeoutMs, memo }, onOutput);
    },
    async adopt(claim) {
      const adopted = await engine.adopt(claim);
      const inUse = new Set(adopted.map(({ handle }) => directoryNameOf(handle.instanceId)));
      const present = await readdir(config.instanceDirectory).catch(() => []);
      // Their mounts, if any, were undone by the engine.
      const leftovers = present.filter((name) => !inUse.has(name));
      await Promise.all(leftovers.map((name) => removeFolder(`${config.instanceDirectory}/${name}`)));
      return adopted;
    },
    close: () => engine.close(),
  };
}

/** The last 12 digits of a UUIDv7 are random; the path must stay short. */
const directoryNameOf = (instanceId: string) => instanceId.slice(-12);

async function serverFiles({ layers, pythonVersion }: ServerSpec, config: HostDriverConfig): Promise<ServerFiles> {
  const [python, dependencies, code] = await Promise.all([
    pythonOf(pythonVersion, config.uv),
    layerPath(config.layers, layers.dependencies),
    layerPath(config.layers, layers.code),
  ]);
  return { python, dependencies, code, harness: config.harness ?? harnessDirectory };
}

/** The exact version, or another patch release of it: layers run on both. */
async function pythonOf(version: string, uv: string): Promise<ResolvedPython> {
  const minor = version.split(".").slice(0, 2).join(".");
  const python = (await resolvePython({ uv, version })) ?? (await resolvePython({ uv, version: minor }));
  if (python !== null) return python;
  const message = `Python ${version}, for which this was built, is not on this machine. Redeploy it.`;
  throw new SandboxError("python_unavailable", message);
}

const layerProblems: Readonly<Record<string, string>> = {
  not_found: "The result of its build is no longer stored. Redeploy it.",
  digest_mismatch: "The stored result of its build is damaged. Redeploy it.",
};

async function layerPath(layers: HostLayers, digest: string): Promise<string> {
  try {
    return await layers.get(digest);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const message = layerProblems[code];
    if (message === undefined) throw error;
    throw new SandboxError("layer_unavailable", message, { cause: error });
  }
}
