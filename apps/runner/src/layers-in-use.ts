import type { StoredDeployment } from "./deployments/deployment.store.ts";
import type { InstancePool } from "./instances/instance-pool.ts";

/** What waits for a server uses its dependency layer too. */
type PrewarmedLayers = { layersInUse(): readonly string[] };
type Read = (deploymentId: string) => Promise<StoredDeployment | null>;

/**
 * Digests of the layers of all servers; the driver removes others that no server has needed for hours (LOG-6).
 * @throws if a deployment can't be read, because none may be missing
 */
export async function layersInUse(
  pool: Pick<InstancePool, "list">,
  prewarmed: PrewarmedLayers,
  read: Read,
): Promise<ReadonlySet<string>> {
  const inUse = new Set(prewarmed.layersInUse());
  for (const { deploymentId } of await pool.list()) {
    const deployment = await read(deploymentId);
    // The server of a deleted deployment ends within seconds.
    if (deployment === null) continue;
    inUse.add(deployment.layers.dependencies);
    inUse.add(deployment.layers.code);
  }
  return inUse;
}
