import { externalServer, project } from "@towpath/db/schema";
import { and, asc, eq, lte } from "drizzle-orm";
import { authorizePlatform, authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { storeServerIcon } from "../server-icon/internal.ts";
import {
  type ExternalServerRow,
  nextCheckAt,
  openedCredential,
  readIcon,
  requireExternalServer,
} from "./external-server.store.ts";
import { type ExternalServerView, externalServerView } from "./external-server.view.ts";

/**
 * Inspects an external server now (ORG-9). A server that fails keeps what it offered before, with the problem beside it.
 *
 * @throws TowpathError `not_found` for a project of another kind
 */
export async function checkExternalServer(call: {
  ctx: Context<"secrets" | "externalServers">;
  input: ProjectScope;
}): Promise<ExternalServerView> {
  const { ctx } = call;
  const { project: found, organization } = await authorizeProject(ctx, "build.start", call.input);
  const row = await requireExternalServer(ctx.db, found.id);
  return externalServerView(await check(ctx, organization.id, row));
}

/** Inspects servers whose inspection is due, a few in a round; for the worker. Returns how many there were. */
export async function checkDueExternalServers({
  ctx,
  input,
}: Call<{ readonly limit: number }, "secrets" | "externalServers">): Promise<number> {
  authorizePlatform(ctx);
  const due = await ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const rows = await tx
      .select({ row: externalServer, organizationId: project.organizationId })
      .from(externalServer)
      .innerJoin(project, eq(project.id, externalServer.projectId))
      .where(lte(externalServer.nextCheckAt, now))
      .orderBy(asc(externalServer.nextCheckAt))
      .limit(input.limit)
      // Other workers take others.
      .for("update", { of: externalServer, skipLocked: true });
    for (const { row } of rows)
      await tx
        .update(externalServer)
        .set({ nextCheckAt: nextCheckAt(now) })
        .where(eq(externalServer.id, row.id));
    return rows;
  });
  await Promise.all(due.map(({ row, organizationId }) => check(ctx, organizationId, row)));
  return due.length;
}

async function check(
  ctx: Context<"secrets" | "externalServers">,
  organizationId: string,
  row: ExternalServerRow,
): Promise<ExternalServerRow> {
  const credential = await openedCredential(ctx, organizationId, row);
  const inspection = await ctx.externalServers.inspect({ url: row.url, credential });
  const now = ctx.clock.now();
  const isSame = inspection.ok && JSON.stringify(inspection.manifest) === JSON.stringify(row.manifest);
  const read = inspection.ok ? await readIcon(ctx, inspection.icons, row) : null;
  return ctx.db.transaction(async (tx) => {
    if (read?.icon) await storeServerIcon(tx, row.projectId, read.icon, now);
    const [after] = await tx
      .update(externalServer)
      .set({
        ...read?.columns,
        problem: inspection.ok ? null : inspection.problem,
        checkedAt: now,
        nextCheckAt: nextCheckAt(now),
        ...(inspection.ok && { manifestAt: now }),
        // Gateways are notified of every update that names this column.
        ...(inspection.ok && !isSame && { manifest: inspection.manifest }),
      })
      // What was found is about this address and credential only.
      .where(and(eq(externalServer.id, row.id), eq(externalServer.revision, row.revision)))
      .returning();
    return after ?? (await requireExternalServer(tx, row.projectId));
  });
}
