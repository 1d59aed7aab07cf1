import type { ServerDriver } from "@towpath/runtime";
import type { StoredDeployment } from "./deployments/deployment.store.ts";
import type { InstancePool } from "./instances/instance-pool.ts";

const everyMs = 600_000;

/** What waits for a server uses its dependency layer too. */
type PrewarmedLayers = { layersInUse(): readonly string[] };
type Read = (deploymentId: string) => Promise<StoredDeployment | null>;

/**
 * Digests of the layers of all servers.
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
    // A server whose deployment was deleted ends within seconds.
    if (deployment === null) continue;
    inUse.add(deployment.layers.dependencies);
    inUse.add(deployment.layers.code);
  }
  return inUse;
}

/** Has the driver remove unpacked layers that no server has needed for hours (LOG-6). */
export function startLayerEviction(
  servers: Pick<ServerDriver, "evictLayers">,
  pool: Pick<InstancePool, "list">,
  prewarmed: PrewarmedLayers,
  read: Read,
  onError: (error: unknown) => void,
): { stop(): void } {
  const evict = async () => {
    try {
      await servers.evictLayers(await layersInUse(pool, prewarmed, read));
    } catch (error) {
      onError(error);
    }
  };
  const timer = setInterval(() => void evict(), everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
