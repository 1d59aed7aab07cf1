import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Cluster } from "./cluster.ts";

/** How long the audit log is: for `changesSince`. */
export const auditMark = async (cluster: Cluster): Promise<number> => (await stat(cluster.auditLog)).size;

/** What was asked of the API server in a namespace since a mark, but of leases, as `create pods`: only changes. */
export async function changesSince(cluster: Cluster, namespace: string, mark: number): Promise<string[]> {
  const lines = (await text(createReadStream(cluster.auditLog, { start: mark }))).split("\n").slice(0, -1);
  return lines.flatMap((line) => {
    const { verb, user, objectRef } = JSON.parse(line);
    const isChange = ["create", "update", "patch", "delete"].includes(verb);
    const isOurs = user.username === "admin" && objectRef?.namespace === namespace && objectRef.resource !== "leases";
    return isChange && isOurs ? [`${verb} ${objectRef.resource}`] : [];
  });
}
