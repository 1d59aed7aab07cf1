import { SandboxError } from "../../port/errors.ts";
import type { ServerSpec } from "../../port/servers.ts";
import type { HostDriverConfig, HostLayers } from "../engine.ts";
import { pythonOf } from "../python/resolve-python.ts";
import { harnessDirectory, type ServerFiles } from "./server-spec.ts";

/** Finds the parts of a server. @throws SandboxError `layer_unavailable`, `python_unavailable`, `data_unavailable` */
export async function serverFiles(server: ServerSpec, config: HostDriverConfig): Promise<ServerFiles> {
  const { layers, pythonVersion } = server;
  const [files, code, data] = await Promise.all([
    interpreterFiles(layers.dependencies, pythonVersion, config),
    layerPath(config.layers, layers.code),
    server.dataVolume === undefined ? null : dataDirectory(server.dataVolume, config),
  ]);
  return { ...files, code, ...(data === null ? {} : { data }) };
}

async function dataDirectory(id: string, { volumes }: HostDriverConfig): Promise<string> {
  if (volumes !== undefined) return await volumes.open(id);
  throw new SandboxError("data_unavailable", "its lasting directory /data is not available here.");
}

/** The same without the code. */
export async function interpreterFiles(
  dependencyLayer: string,
  pythonVersion: string,
  config: HostDriverConfig,
): Promise<Omit<ServerFiles, "code">> {
  const [python, dependencies] = await Promise.all([
    pythonOf(pythonVersion, config),
    layerPath(config.layers, dependencyLayer),
  ]);
  return { python, dependencies, harness: config.harness ?? harnessDirectory };
}

const layerProblems: Readonly<Record<string, string>> = {
  not_found: "The result of its build is no longer stored.",
  digest_mismatch: "The stored result of its build is damaged.",
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
