import type { Transaction } from "@towpath/db";
import { callReplay, project, sampledCall } from "@towpath/db/schema";
import { and, eq, inArray, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, roleMay } from "../../authorize/index.ts";
import { restrictsCallers } from "../../calling/access/internal.ts";
import type { Call, Context } from "../../context/index.ts";
import { enqueueReport } from "../../delivery/branch/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { sourceOf } from "../../sources/source/internal.ts";
import { type UpdateProjectInput, updateProjectSchema } from "./project.schema.ts";
import { findProjectState, type ProjectRow } from "./project.store.ts";
import { type ProjectView, projectView } from "./project.view.ts";
import { moveToName } from "./rename-project.ts";
import { replaySettingOf } from "./replay.schema.ts";

/**
 * Changes a project's settings; absent fields stay as they are (PRJ-11). Gateways are notified, so that auth mode and
 * payload capture take effect immediately; entrypoint, arguments, requirements and root directory take effect with the next build.
 * Another name moves the server's address (`moveToName`). Where an admin has restricted who may call (GW-15), only admins
 * change the auth mode.
 */
export async function updateProject(call: Call<UpdateProjectInput>): Promise<ProjectView> {
  const { ctx } = call;
  const {
    project: before,
    organization,
    role,
  } = await authorizeProject(ctx, "project.update", {
    orgSlug: call.input.orgSlug,
    projectName: call.input.projectName,
  });
  const settings = parseInput(updateProjectSchema, call.input);
  const changes = Object.fromEntries(
    Object.entries(settings).filter(
      ([key]) => Object.hasOwn(call.input, key) && call.input[key as never] !== undefined,
    ),
  );
  // Stored as empty: see entrypointSettingSchema.
  if (changes.entrypoint === null) changes.entrypoint = "";
  if (before.kind !== "hosted") requireFitting(before.kind, changes);
  if (changes.followsPackage === true && sourceOf(before)?.kind !== "package") throw noPackage();
  const changesMode = changes.authMode !== undefined && changes.authMode !== before.authMode;
  return ctx.db.transaction(async (tx) => {
    if (changesMode && !roleMay(role, "access.manage") && (await restrictsCallers(tx, before.id))) throw onlyAdmins();
    if (settings.name !== undefined) await moveToName(tx, ctx, { projectId: before.id, name: settings.name });
    const [row] = await tx
      .update(project)
      .set({ ...changes, ...dataEnd(before, settings.keepsData, ctx.clock.now()), updatedAt: ctx.clock.now() })
      .where(and(eq(project.organizationId, organization.id), eq(project.id, before.id)))
      .returning();
    if (!row) throw notFound("server");
    if (changes.replay !== undefined) await changeReplays(tx, ctx, { before, row });
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: row.id,
      action: "project.update",
      subject: row.name,
      detail: { ...changes, ...(changes.name !== undefined && { name: { from: before.name, to: row.name } }) },
    });
    return projectView(ctx, row, { orgSlug: organization.slug, ...(await findProjectState(tx, row)) });
  });
}

/**
 * Where calls are not to be replayed any more, the sampled ones and all reports are deleted (CAP-4); else sampled ones of
 * tools that are no longer named, and the others are kept for as long as it says now. Checks that wait for a replay, or fail
 * by one, are reported again.
 */
async function changeReplays(
  tx: Transaction,
  ctx: Context,
  { before, row }: { readonly before: ProjectRow; readonly row: ProjectRow },
): Promise<void> {
  const [was, is] = [replaySettingOf(before), replaySettingOf(row)];
  const ofSample = eq(sampledCall.projectId, row.id);
  if (is?.isRequired !== was?.isRequired) {
    const replayed = await tx
      .selectDistinct({ branchId: callReplay.branchId })
      .from(callReplay)
      .where(eq(callReplay.projectId, row.id));
    for (const { branchId } of replayed) await enqueueReport(tx, ctx, branchId);
  }
  if (is === null) {
    await tx.delete(sampledCall).where(ofSample);
    await tx.delete(callReplay).where(eq(callReplay.projectId, row.id));
    return;
  }
  const left = was?.tools.filter((name) => !is.tools.includes(name)) ?? [];
  if (left.length > 0) await tx.delete(sampledCall).where(and(ofSample, inArray(sampledCall.tool, left)));
  const expiresAt = sql`${sampledCall.sampledAt} + make_interval(days => ${is.keepDays}::int)`;
  if (is.keepDays !== was?.keepDays) await tx.update(sampledCall).set({ expiresAt }).where(ofSample);
}

/** When `/data` was switched off, from which on it is kept for a while (BLD-19). */
function dataEnd(before: { readonly keepsData: boolean }, keepsData: boolean | undefined, now: Date) {
  if (keepsData === undefined || keepsData === before.keepsData) return {};
  return { dataOffAt: keepsData ? null : now };
}

/** Settings that only servers have that run here. */
const hostedOnly = [
  "entrypoint",
  "arguments",
  "requirements",
  "rootDirectory",
  "watchPaths",
  "failOnBreakingChanges",
  "sleepingLists",
  "keepsData",
  "callerInstances",
  "callerProbe",
  "replay",
  "checkQuestions",
] as const;

/** @throws TowpathError `invalid_input` for what an external server or a portal can't have */
function requireFitting(kind: string, changes: Readonly<Record<string, unknown>>): void {
  const fields = Object.fromEntries(
    hostedOnly.flatMap((key) => (key in changes ? [[key, "Only servers that Towpath builds have this setting."]] : [])),
  );
  if (changes.authMode === "passthrough") {
    fields.authMode =
      "Callers' own credentials are never sent to another host. Choose members only, or open to anyone.";
  }
  for (const key of ["keepResultsMinutes", "unattendedMinutes"])
    if (kind === "portal" && key in changes)
      fields[key] = "Portals keep results as their servers do. Set it for those.";
  // It would show strangers what servers offer that aren't public.
  if (kind === "portal" && changes.isPublic === true) fields.isPublic = "Portals have no public page.";
  const [first] = Object.values(fields);
  if (first !== undefined) throw new TowpathError("invalid_input", first, { fields });
}

const noPackage = () => {
  const text = "This server doesn't run a package of the index.";
  return new TowpathError("invalid_input", text, { fields: { followsPackage: text } });
};

const onlyAdmins = () =>
  new TowpathError(
    "forbidden",
    "Forbidden: admins have restricted who may call this server, so only they may change how it authenticates callers.",
  );
