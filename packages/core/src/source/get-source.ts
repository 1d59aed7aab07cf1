import { authorizeProject, type ProjectScope } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound } from "../errors/index.ts";
import { noteLook, requireGitSource } from "./git-source.store.ts";
import { followedSourceView, type SourceView } from "./git-source.view.ts";
import { sourceOf } from "./source.ts";

/**
 * Where a project's code comes from, for its settings (SRC-1). A Git URL at which somebody looks is asked more often.
 *
 * @throws TowpathError `not_found` for a project that isn't built here
 */
export async function getSource(call: { ctx: Context; input: ProjectScope }): Promise<SourceView> {
  const { ctx } = call;
  const { project } = await authorizeProject(ctx, "project.read", call.input);
  const source = sourceOf(project);
  if (source === null) throw notFound("source");
  if (source.kind === "package") return source;
  if (source.kind === "github") {
    const { kind, fullName, isPrivate } = source;
    return { kind, fullName, defaultBranch: project.defaultBranch, private: isPrivate };
  }
  await noteLook(ctx, project.id);
  return followedSourceView(ctx.db, ctx, project, await requireGitSource(ctx.db, project.id));
}
