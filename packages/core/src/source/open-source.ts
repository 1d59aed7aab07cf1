import { project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import type { GitRemote } from "../ports/index.ts";
import { findGitSource, openedRemote } from "./git-source.store.ts";

/** The repository of a build, with its credential, for the process that fetches it; null for another source. */
export async function openGitSource(call: {
  ctx: Context;
  input: { readonly projectId: string };
}): Promise<GitRemote | null> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const row = await findGitSource(ctx.db, input.projectId);
  const [of] = await ctx.db
    .select({ organizationId: project.organizationId })
    .from(project)
    .where(eq(project.id, input.projectId));
  return row && of ? openedRemote(ctx, of.organizationId, row, "build") : null;
}
