import { posix } from "node:path";
import { parse } from "smol-toml";
import { z } from "zod";

// A project may need more of its repository than its own directory: the other members of its uv workspace, or
// dependencies by path outside of it.

/** The directory of the repository that an installation reads, if that is more than the project's own. */
export type BuildContext = {
  /** Relative to the repository's root; empty for the root itself. */
  readonly root: string;
  /** The project's directory, relative to `root`. */
  readonly project: string;
  /** The workspace's lock applies, not the project's. */
  readonly isWorkspace: boolean;
};

const patterns = z.array(z.string()).max(200).default([]);
const workspaceSchema = z.looseObject({ members: patterns, exclude: patterns });
const uvSchema = z.looseObject({ workspace: workspaceSchema.optional(), sources: z.unknown().optional() });
const fileSchema = z.looseObject({ tool: z.looseObject({ uv: uvSchema.optional() }).optional() });

/** Tables of `tool.uv.sources`; a dependency may have several. */
export const localSources = (sources: unknown): { readonly paths: readonly string[]; readonly members: number } => {
  const tables = Object.values(typeof sources === "object" && sources !== null ? sources : {}).flat();
  const found = tables.filter((table): table is object => typeof table === "object" && table !== null);
  return {
    paths: found.flatMap((table) => ("path" in table && typeof table.path === "string" ? [table.path] : [])),
    members: found.filter((table) => "workspace" in table && table.workspace === true).length,
  };
};

const uvOf = (text: string | null): z.infer<typeof uvSchema> => {
  if (text === null) return {};
  try {
    return fileSchema.parse(parse(text)).tool?.uv ?? {};
  } catch {
    // The plan reports errors in the project's own file; a file above it may belong to something else.
    return {};
  }
};

const ancestors = (directory: string): string[] => {
  const parts = directory.split("/").slice(0, -1);
  return [...parts.keys(), parts.length].toReversed().map((count) => parts.slice(0, count).join("/"));
};

const matches = (path: string, glob: string) => posix.matchesGlob(path, posix.normalize(glob).replace(/\/$/, ""));

/**
 * Finds the context of the project in `project`, relative to the repository's root. `read` resolves to a file's text,
 * or to null. Null if the project needs only its own directory.
 */
export async function findBuildContext(
  project: string,
  read: (path: string) => Promise<string | null>,
): Promise<BuildContext | null> {
  const own = await read(posix.join(project, "pyproject.toml"));
  if (project === "" || own === null) return null;
  const { paths, members } = localSources(uvOf(own).sources);
  for (const root of ancestors(project)) {
    const { workspace } = uvOf(await read(posix.join(root, "pyproject.toml")));
    if (workspace === undefined) continue;
    const within = posix.relative(root, project);
    const isMember = workspace.members.some((glob) => matches(within, glob));
    if (!isMember || workspace.exclude.some((glob) => matches(within, glob))) break;
    // Without either, the project is installed on its own.
    if (members > 0 || (await read(posix.join(root, "uv.lock"))) !== null) {
      return { root, project: within, isWorkspace: true };
    }
    break;
  }
  const leadsOut = paths.some((path) => posix.relative(project, posix.join(project, path)).startsWith(".."));
  return leadsOut ? { root: "", project, isWorkspace: false } : null;
}
