import { build, deployment, route } from "@towpath/db/schema";
import { and, eq, notExists } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { isCurrentAttempt } from "../build/internal.ts";

/**
 * Removes the deployment of a running build, as if it had not been created: in place, its server did not show what the
 * build must know. Does nothing for an attempt that isn't the current one, and for a deployment with a route.
 *
 * @returns whether nobody needs its server any more: false while another attempt has the build or it has succeeded
 */
export async function withdrawDeployment({
  ctx,
  input,
}: Call<{ readonly buildId: string; readonly attempt: number }>): Promise<boolean> {
  authorizePlatform(ctx);
  const { buildId } = input;
  return ctx.db.transaction(async (tx) => {
    const [current] = await tx.select({ id: build.id }).from(build).where(isCurrentAttempt(input)).for("no key update");
    if (!current) {
      const [found] = await tx.select({ status: build.status }).from(build).where(eq(build.id, buildId));
      return found === undefined || found.status === "canceled" || found.status === "failed";
    }
    const routed = tx.select().from(route).where(eq(route.deploymentId, deployment.id));
    const removed = await tx
      .delete(deployment)
      .where(and(eq(deployment.buildId, buildId), notExists(routed)))
      .returning({ id: deployment.id });
    if (removed.length > 0) await tx.update(build).set({ layers: null, program: null }).where(eq(build.id, buildId));
    return removed.length > 0;
  });
}
