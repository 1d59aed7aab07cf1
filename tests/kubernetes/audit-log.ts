import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Cluster } from "./cluster.ts";

/** How long the audit log is: for `changesSince`. */
export const auditMark = async (cluster: Cluster): Promise<number> => (await stat(cluster.auditLog)).size;

/**
 * What was asked of the API server in a namespace since a mark, as `create pods`: only changes, but of leases and of pods that
 * try the network now and then.
 */
export async function changesSince(cluster: Cluster, namespace: string, mark: number): Promise<string[]> {
  const lines = (await text(createReadStream(cluster.auditLog, { start: mark }))).split("\n").slice(0, -1);
  return lines.flatMap((line) => {
    const { verb, user, objectRef } = JSON.parse(line);
    const isChange = ["create", "update", "patch", "delete"].includes(verb);
    const isOurs = user.username === "admin" && objectRef?.namespace === namespace;
    const isRegular = objectRef?.resource === "leases" || objectRef?.name?.startsWith("probe-");
    return isChange && isOurs && !isRegular ? [`${verb} ${objectRef.resource}`] : [];
  });
}
