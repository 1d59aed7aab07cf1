import { build } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { authorizeProject } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { findExternalManifest } from "../../projects/external-server/internal.ts";
import { findPortalManifest } from "../../projects/portal/internal.ts";
import type { BuildManifest } from "../build/build-contract.schema.ts";
import { buildView, selectBuilds } from "../build/internal.ts";
import { getCurrentBuild } from "./get-last-successful-build.ts";

/**
 * What a server offers, as a build found it (PRJ-18). Without `buildId`: that of what is live, the last inspection of an
 * external server (ORG-9), or what a portal offers of its servers (ORG-3).
 *
 * @returns null when there is no such build yet, or its server's lists could not be read
 * @throws TowpathError `not_found` for a build that isn't the project's
 */
export async function getManifest(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string; readonly buildId?: string | undefined };
}): Promise<BuildManifest> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "build.read", input);
  if (input.buildId === undefined && project.kind === "external") return findExternalManifest(ctx.db, project.id);
  if (input.buildId === undefined && project.kind === "portal") return findPortalManifest(ctx.db, project);
  if (input.buildId === undefined)
    return (await getCurrentBuild({ ctx, input: { ...input, branchId: null } }))?.manifest ?? null;
  if (!isId(input.buildId)) throw notFound("build");
  const [row] = await selectBuilds(ctx.db, and(eq(build.projectId, project.id), eq(build.id, input.buildId)));
  if (!row) throw notFound("build");
  return buildView(ctx, row).manifest;
}
