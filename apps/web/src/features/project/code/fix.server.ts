import { filesToFix, fix } from "@towpath/builder/fix";
import type { FullContext, ProjectAccess } from "@towpath/core/context";
import { getBuild } from "@towpath/core/delivery/build";
import { notFound } from "@towpath/core/errors";
import { readFile } from "@towpath/core/sources/files";

/** A file with and without the change that ends a failure. Null: there is none. */
export type FixedFile = { readonly path: string; readonly base: string | null; readonly text: string | null };

type ProposeFix = {
  readonly ctx: FullContext;
  readonly project: ProjectAccess["project"];
  readonly input: { readonly buildId: string; readonly branch: string; readonly sha: string };
};

/**
 * The change that ends the failure of a build, made in files of a commit; none where the commit has it already, or where the
 * diagnosis names none.
 */
export async function proposeFix({ ctx, project, input }: ProposeFix): Promise<readonly FixedFile[]> {
  const { buildId, branch, sha } = input;
  const build = await getBuild({ ctx, input: { buildId } });
  if (build.project.id !== project.id) throw notFound("build");
  const action = build.diagnosis?.action;
  const change = action?.kind === "code" ? action.change : undefined;
  if (change === undefined) return [];
  const read = async (path: string) => {
    const { text } = await readFile({ ctx, input: { projectId: project.id, branch, sha, path } });
    return [path, text] as const;
  };
  const texts = Object.fromEntries(await Promise.all(filesToFix(change).map(read)));
  return Object.entries(fix(change, texts)).map(([path, text]) => ({ path, base: texts[path] ?? null, text }));
}
