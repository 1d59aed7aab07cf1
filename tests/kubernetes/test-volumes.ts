import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster } from "./cluster.ts";

/** Makes directories of the node claimable under a storage class of this name, which nobody provides volumes for. */
export async function offerVolumes(cluster: Cluster, directory: string, storageClass: string, count: number) {
  for (let number = 1; number <= count; number++) {
    const path = join(directory, `volume-${number}`);
    await mkdir(path);
    // The kubelet changes no owner of such a directory.
    await chmod(path, 0o777);
    await cluster.create("default", {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `${storageClass}-${number}`, labels: { test: storageClass } },
      spec: {
        storageClassName: storageClass,
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        hostPath: { path, type: "Directory" },
      },
    });
  }
}

export const removeVolumes = (cluster: Cluster, storageClass: string) =>
  cluster.kubectl("delete", "pv", `-l=test=${storageClass}`, "--wait=false");
