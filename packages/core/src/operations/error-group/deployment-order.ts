import type { Transaction } from "@towpath/db";
import { deployment, type errorGroup } from "@towpath/db/schema";
import { inArray } from "drizzle-orm";
import type { Tally } from "./tally.ts";

type Group = Pick<
  typeof errorGroup.$inferSelect,
  "projectId" | "fingerprint" | "state" | "resolvedAt" | "resolvedDeploymentId"
>;

/**
 * Whether failures bring a resolved group back: those of a deployment that is newer than the one in which it was resolved,
 * in production or on the same branch. Another branch may not have the fix yet. Resolved without a deployment, or in one
 * that was removed, any later failure does.
 */
export async function deploymentOrder(
  tx: Transaction,
  groups: readonly Group[],
  tallies: readonly Tally[],
): Promise<(group: Group, tally: Tally) => boolean> {
  const resolved = groups.filter(({ state }) => state === "resolved");
  if (resolved.length === 0) return () => false;
  const ids = new Set([
    ...resolved.flatMap(({ resolvedDeploymentId }) => resolvedDeploymentId ?? []),
    ...tallies.flatMap(({ deployments }) => [...deployments.keys()].filter((id) => id !== null)),
  ]);
  const rows = await tx
    .select({
      id: deployment.id,
      branchId: deployment.branchId,
      environment: deployment.environment,
      createdAt: deployment.createdAt,
    })
    .from(deployment)
    .where(inArray(deployment.id, [...ids]));
  const known = new Map(rows.map((row) => [row.id, row]));
  return (group, { deployments }) => {
    if (group.state !== "resolved") return false;
    const at = known.get(group.resolvedDeploymentId ?? "");
    const { resolvedAt } = group;
    return [...deployments].some(([id, lastSeen]) => {
      if (!at) return resolvedAt !== null && lastSeen > resolvedAt;
      const of = known.get(id ?? "");
      return (
        of !== undefined &&
        of.createdAt > at.createdAt &&
        (of.branchId === at.branchId || of.environment === "production")
      );
    });
  };
}
