import { build, project } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { writeToBuildLog } from "./build.store.ts";

const maxBuilds = 100;

/**
 * Writes to the logs of an organization's queued builds why they wait, once. They stay queued until the sweep gives the
 * organization another turn.
 */
export async function holdBuilds({
  ctx,
  input,
}: Call<{ readonly organizationId: string; readonly reason: string }>): Promise<{ readonly held: number }> {
  authorizePlatform(ctx);
  return ctx.db.transaction(async (tx) => {
    const waiting = await tx
      .select({ id: build.id })
      .from(build)
      .innerJoin(project, eq(project.id, build.projectId))
      .where(
        and(
          eq(project.organizationId, input.organizationId),
          eq(build.status, "queued"),
          sql`NOT EXISTS (SELECT 1 FROM build_log WHERE build_id = ${build.id} AND text = ${input.reason})`,
        ),
      )
      .orderBy(build.id)
      .limit(maxBuilds)
      .for("no key update", { of: build, skipLocked: true });
    for (const { id } of waiting) {
      await writeToBuildLog(tx, id, ctx.clock.now(), { phase: "fetch", kind: "warning", text: input.reason });
    }
    return { held: waiting.length };
  });
}
