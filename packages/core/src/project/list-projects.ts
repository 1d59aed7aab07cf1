import { authorize } from "../authorize/index.ts";
import { buildStatusSchema } from "../build/build-contract.schema.ts";
import type { Context } from "../context/index.ts";
import { parseInput } from "../input/index.ts";
import { type ListProjectsInput, projectListSchema } from "./project.schema.ts";
import { listProjectRows } from "./project.store.ts";
import { type ProjectListItem, projectView } from "./project.view.ts";

/** The projects of an organization by name, filtered as the servers screen asks (ORG-2). */
export async function listProjects(call: {
  ctx: Context;
  input: ListProjectsInput;
}): Promise<readonly ProjectListItem[]> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.read", { orgSlug: call.input.orgSlug });
  const filter = parseInput(projectListSchema, call.input);
  const rows = await listProjectRows(ctx.db, organization.id, filter);
  return rows.map((row) => ({
    ...projectView(ctx, row.project, { orgSlug: row.orgSlug, liveWarnings: row.liveWarnings }),
    latestBuild: row.latestBuild && {
      ...row.latestBuild,
      status: buildStatusSchema.parse(row.latestBuild.status),
      createdAt: row.latestBuild.createdAt.toISOString(),
    },
  }));
}
