import type { project } from "@towpath/db/schema";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { gitHubCheckView, gitHubHeads } from "../github-check/internal.ts";
import { recordLook, requireGitSource } from "./git-source.store.ts";
import { followedSourceView, type SourceView } from "./git-source.view.ts";
import { sourceOf } from "./source.ts";

/**
 * Where a project's code comes from, for its settings (SRC-1). A Git URL at which somebody looks is asked more often.
 *
 * @throws TowpathError `not_found` for a project that isn't built here
 */
export async function getSource(call: Call<ProjectScope, "repositories">): Promise<SourceView> {
  const { ctx } = call;
  const { project: of } = await authorizeProject(ctx, "project.read", call.input);
  if (sourceOf(of)?.kind === "git") await recordLook(ctx, of.id);
  return sourceView(ctx, of);
}

/** @throws TowpathError `not_found` for a project that isn't built here */
export async function sourceView(ctx: Context<"repositories">, of: typeof project.$inferSelect): Promise<SourceView> {
  const source = sourceOf(of);
  if (source === null) throw notFound("source");
  if (source.kind === "package") return source;
  if (source.kind === "github") {
    const { kind, fullName, branch, isPrivate, repositoryId } = source;
    const { defaultBranch } = of;
    const heads = await gitHubHeads(ctx.db, { projectId: of.id, repositoryId });
    const branches = [...(heads?.keys() ?? [])].toSorted();
    const checked = await gitHubCheckView(ctx, of);
    return { kind, fullName, branch, defaultBranch, branches, private: isPrivate, ...checked };
  }
  return followedSourceView(ctx.db, ctx, of, await requireGitSource(ctx.db, of.id));
}
