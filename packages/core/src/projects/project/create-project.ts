import type { Transaction } from "@towpath/db";
import { branch, project } from "@towpath/db/schema";
import { audit } from "../../audit/index.ts";
import { actingUserId } from "../../authorize/index.ts";
import { storeInitialAccess } from "../../calling/access/internal.ts";
import type { Context } from "../../context/index.ts";
import { enqueueBuild, insertBuild } from "../../delivery/build/internal.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { lockLabels } from "../label/index.ts";
import { insertSecrets } from "../secret/internal.ts";
import { requireFreeName } from "./check-project-name.ts";
import type { BuildSource, deployProjectSchema } from "./project.schema.ts";
import type { ProjectRow } from "./project.store.ts";

type Columns = Omit<typeof project.$inferInsert, "id" | "organizationId" | "createdAt" | "updatedAt">;

export type NewProject = Pick<ReturnType<typeof deployProjectSchema.parse>, "trigger" | "secrets" | "access"> & {
  readonly columns: Columns;
  /** What its first build builds; null for none. */
  readonly source: BuildSource | null;
  /** Where its code comes from, for the audit log. */
  readonly origin: Readonly<Record<string, unknown>>;
  /** Stores what the columns don't say of the source, before the first build, which reads it. */
  readonly storeSource?: (of: ProjectRow) => Promise<void>;
};

/**
 * Inserts a project with its default branch, its secrets and its first build, which is queued.
 *
 * @throws TowpathError for a name that is taken
 */
export async function createProject(
  tx: Transaction,
  ctx: Context<"secrets">,
  organizationId: string,
  { columns, source, trigger, secrets, access, origin, storeSource }: NewProject,
): Promise<{ readonly row: ProjectRow; readonly buildId: string | null }> {
  await lockLabels(tx);
  await requireFreeName(tx, columns.name);
  const now = ctx.clock.now();
  const [row] = await tx
    .insert(project)
    .values({
      ...columns,
      id: newId(),
      organizationId,
      createdByUserId: actingUserId(ctx),
      createdAt: now,
      updatedAt: now,
    })
    .returning();
  if (!row) throw new TowpathError("internal", "The server could not be created.");
  const branchId = newId();
  await tx
    .insert(branch)
    .values({ id: branchId, projectId: row.id, name: row.defaultBranch, isDefault: true, createdAt: now });
  await insertSecrets(tx, ctx, { organizationId, projectId: row.id }, secrets);
  await storeSource?.(row);
  // Before the first build, which may go live at once.
  if (access !== undefined) await storeInitialAccess(tx, ctx, row, access);
  const queued = source && (await insertBuild(tx, ctx, { project: row, branchId, commit: source, trigger }));
  if (queued) await enqueueBuild(tx, ctx, queued.id);
  await audit(tx, ctx, {
    organizationId,
    projectId: row.id,
    action: "project.create",
    subject: row.name,
    detail: {
      ...origin,
      trigger,
      authMode: row.authMode,
      ...(row.rootDirectory !== null && { rootDirectory: row.rootDirectory }),
      capturePayloads: row.capturePayloads,
      secrets: secrets.map((each) => each.keyName),
    },
  });
  return { row, buildId: queued?.id ?? null };
}
