import { build } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizeProject } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { parseInput } from "../input/index.ts";
import { type ListBuildsInput, listBuildsSchema } from "./build.schema.ts";
import { selectBuildSummaries } from "./build.store.ts";
import type { BuildPage } from "./build.view.ts";
import { buildSummary } from "./build-view.ts";

/** A page of a project's builds, newest first; `hasMore` says whether there is a next one (PRJ-2). */
export async function listBuilds(call: { ctx: Context; input: ListBuildsInput }): Promise<BuildPage> {
  const { ctx } = call;
  const { project } = await authorizeProject(ctx, "build.read", {
    orgSlug: call.input.orgSlug,
    projectName: call.input.projectName,
  });
  const { limit, offset } = parseInput(listBuildsSchema, call.input);
  const rows = await selectBuildSummaries(ctx.db, eq(build.projectId, project.id))
    .limit(limit + 1)
    .offset(offset);
  return { data: rows.slice(0, limit).map((row) => buildSummary(ctx, row)), hasMore: rows.length > limit };
}
