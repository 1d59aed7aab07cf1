import type { PrewarmSpec, ServerSpec } from "../../port/servers.ts";
import type { LayerAddress } from "../pod/server-pod.ts";
import type { RemoteLayers } from "../remote-layers.ts";
import { layerError } from "./start-failure.ts";

/** Where a pod gets the dependencies of a server. @throws SandboxError `layer_unavailable` */
export async function dependenciesAt(
  layers: RemoteLayers,
  { dependencies: digest, pythonVersion }: Pick<PrewarmSpec, "dependencies" | "pythonVersion">,
): Promise<LayerAddress> {
  const [major, minor] = pythonVersion.split(".");
  const spread = `lib/python${major}.${minor}/site-packages`;
  return { url: await addressOf(layers, digest), digest, directory: "dependencies", spread };
}

/** Where it gets the server's code. @throws SandboxError `layer_unavailable` */
export const codeAt = async (layers: RemoteLayers, digest: string): Promise<LayerAddress> => ({
  url: await addressOf(layers, digest),
  digest,
  directory: "code",
});

/** Where it gets both. @throws SandboxError `layer_unavailable` */
export const layersAt = (layers: RemoteLayers, server: ServerSpec): Promise<LayerAddress[]> => {
  const { dependencies, code } = server.layers;
  const { pythonVersion } = server;
  return Promise.all([dependenciesAt(layers, { dependencies, pythonVersion }), codeAt(layers, code)]);
};

async function addressOf(layers: RemoteLayers, digest: string): Promise<string> {
  try {
    return await layers.address(digest);
  } catch (error) {
    const isLost = error instanceof Error && "code" in error && error.code === "not_found";
    throw isLost ? layerError("not_found", error) : error;
  }
}
