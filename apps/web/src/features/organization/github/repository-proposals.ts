import { type DeclaredVariable, declaredVariables, filesWithVariables } from "@towpath/builder/declared-variables";
import { findOffers, projectDirectories, skippedDirectories } from "@towpath/builder/entrypoints";

const requirementsPattern = /(^|\/)(requirements[\w.-]*\.txt)$/i;

/** Only suggestions: a build looks into the code, and the user knows the server. */
const maxCandidates = 8;
/** How many projects of a monorepo are looked into. */
const maxProjects = 6;

export type Proposals = {
  /** Possible entrypoints, most likely first, relative to the repository's root. */
  readonly entrypoints: readonly string[];
  /** Directories with their own project, as in monorepos, and possible entrypoints relative to each. */
  readonly projects: readonly { readonly directory: string; readonly entrypoints: readonly string[] }[];
  readonly requirementFiles: readonly string[];
  /** Variables that its files name, probably needed before the first build. */
  readonly variables: readonly DeclaredVariable[];
};

/** Proposals for a repository by the same rules as its build (BLD-16), without reading its Python files. */
export async function repositoryProposals(
  paths: readonly string[],
  read: (path: string) => Promise<string | null>,
): Promise<Proposals> {
  const directories = projectDirectories(new Set(paths)).slice(0, maxProjects);
  const [entrypoints = [], ...others] = await Promise.all(
    ["", ...directories.map((directory) => `${directory}/`)].map((prefix) => entrypointsIn(prefix, paths, read)),
  );
  return {
    entrypoints,
    variables: await variablesIn(paths, read),
    projects: directories.map((directory, at) => ({ directory, entrypoints: others[at] ?? [] })),
    requirementFiles: paths
      .filter((path) => path.length <= 128 && !skippedDirectories.test(path) && requirementsPattern.test(path))
      .slice(0, maxCandidates),
  };
}

async function variablesIn(
  paths: readonly string[],
  read: (path: string) => Promise<string | null>,
): Promise<readonly DeclaredVariable[]> {
  const files = filesWithVariables(paths, "");
  const texts = await Promise.all(files.map(read));
  return declaredVariables(new Map(files.map((file, at) => [file, texts[at] ?? ""])));
}

const telling = ["pyproject.toml", "fastmcp.json", "setup.cfg", "setup.py"];

async function entrypointsIn(
  prefix: string,
  paths: readonly string[],
  read: (path: string) => Promise<string | null>,
): Promise<readonly string[]> {
  const within = new Set(paths.flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : [])));
  const texts = new Map<string, string>();
  for (const name of telling.filter((each) => within.has(each))) {
    const text = await read(prefix + name);
    if (text !== null) texts.set(name, text);
  }
  return findOffers(within, texts)
    .map(({ program }) => program.entrypoint)
    .slice(0, maxCandidates);
}
