import { posix } from "node:path";
import { entrypointSchema } from "@towpath/core/projects/project/schema";
import { fastmcpProgram } from "./fastmcp-json.ts";
import { dependencyNames, dotted, hasCode, importRootsOf, moduleFile } from "./named-program.ts";
import type { Offer, Texts } from "./offer.ts";
import { type Pyproject, parsePyproject } from "./pyproject.ts";
import { normalizeName } from "./requirements-file.ts";
import { fileOffers, isServerCode, separateServers, usualFiles } from "./server-files.ts";
import { setupScripts } from "./setup-scripts.ts";

/** Max projects of a tree that are searched. */
export const maxProjects = 20;

/** Max console scripts and packages that are compared with the files: forms do it for any repository. */
const maxPrograms = 100;

/** Directories whose files are not the server. */
export const skippedDirectories =
  /(^|\/)(\.[^/]+|tests?|docs?|examples?|build|dist|node_modules|site-packages|venv)\//i;

/**
 * Ways to start the server of a tree whose settings name nothing (BLD-16), most likely first: fastmcp.json's source,
 * console scripts, packages with a `__main__`, files with a server at their top level, files with usual names. Any
 * Python file whose text is unknown may be the server. Pure; the one rule for builds and forms.
 */
export function findOffers(paths: ReadonlySet<string>, texts: Texts): readonly Offer[] {
  const { own, likely, others } = rankedOffers(paths, texts);
  const all = [...likely, ...others];
  all.push(...usualFiles(own, { strict: all.length > 0 }));
  const seen = new Set<string>();
  return all.filter(({ program: { entrypoint } }) => {
    if (seen.has(entrypoint) || !entrypointSchema.safeParse(entrypoint).success) return false;
    seen.add(entrypoint);
    return true;
  });
}

/** Without other projects below it, and without files that are never a server. */
function ownFiles(paths: ReadonlySet<string>): ReadonlySet<string> {
  const nested = new Set(projectDirectories(paths));
  return new Set([...paths].filter((path) => !skippedDirectories.test(path) && !isBelow(path, nested)));
}

/** Nobody's project is deeper, and each level costs a look-up for each file. */
const maxDepth = 32;

function isBelow(path: string, directories: ReadonlySet<string>): boolean {
  if (directories.size === 0) return false;
  const parts = path.split("/", maxDepth);
  let directory = parts.shift() ?? "";
  return parts.some((part) => {
    if (directories.has(directory)) return true;
    directory += `/${part}`;
    return false;
  });
}

function rankedOffers(paths: ReadonlySet<string>, texts: Texts): Ranked & { readonly own: ReadonlySet<string> } {
  const pyproject = readPyproject(texts);
  const own = ownFiles(paths);
  const scripts = scriptOffers(own, texts, pyproject);
  const packages = packageOffers(own, texts, pyproject);
  const fastmcp = [fastmcpProgram(paths, texts)].filter((offer) => offer !== null);
  return {
    own,
    likely: [...fastmcp, ...scripts.likely, ...packages.likely, ...fileOffers(own, texts)],
    others: [...scripts.others, ...packages.others, ...dependencyOffers(own, pyproject)],
  };
}

/** If several files of this one's directory each define a server: those files, including this one. */
export const serversBeside = (paths: ReadonlySet<string>, texts: Texts, file: string): readonly string[] =>
  separateServers(ownFiles(paths), texts, posix.dirname(file));

/** Projects of a tree that likely have a server (BLD-15), for a tree that offers nothing itself. */
export function serverDirectories(paths: ReadonlySet<string>, texts: Texts): string[] {
  return projectDirectories(paths)
    .slice(0, maxProjects)
    .filter((directory) => {
      const prefix = `${directory}/`;
      const within = [...paths].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
      return hasServer(new Set(within), { get: (path) => texts.get(prefix + path) });
    });
}

/** Whether anything that a tree offers concerns MCP. */
export const hasServer = (paths: ReadonlySet<string>, texts: Texts): boolean =>
  rankedOffers(paths, texts).likely.length > 0;

/** Directories below the root with their own pyproject.toml, as in monorepos: outer ones first. */
export function projectDirectories(paths: ReadonlySet<string>): string[] {
  return [...paths]
    .filter((path) => path.endsWith("/pyproject.toml") && !skippedDirectories.test(path))
    .map((path) => posix.dirname(path))
    .sort((a, b) => depth(a) - depth(b) || a.localeCompare(b));
}

const depth = (path: string) => path.split("/").length;

/** Null also if it can't be parsed: the plan reports that. */
function readPyproject(texts: Texts): Pyproject | null {
  const text = texts.get("pyproject.toml");
  if (text === undefined) return null;
  try {
    return parsePyproject(text);
  } catch {
    return null;
  }
}

/** `others`: nothing shows that they start an MCP server. */
type Ranked = { readonly likely: readonly Offer[]; readonly others: readonly Offer[] };

type Script = { readonly name: string; readonly target: string; readonly from: string; readonly entrypoint: string };

function scriptOffers(own: ReadonlySet<string>, texts: Texts, pyproject: Pyproject | null): Ranked {
  const roots = importRootsOf(pyproject);
  const fileOf = ({ target }: Script) => moduleFile(own, roots, target.split(":")[0] ?? "", "__init__.py");
  const scripts = scriptsOf(texts, pyproject).map((script) => {
    const isLikeProject = normalizeName(script.name) === normalizeName(pyproject?.name ?? "");
    return { ...script, isLikeProject, rank: rankOf(script.name, isLikeProject) };
  });
  scripts.sort((a, b) => a.rank - b.rank);
  const which = scripts.length === 1 ? "the only console script" : "a console script";
  const offers = scripts.slice(0, maxPrograms).map((script) => ({
    program: { entrypoint: script.entrypoint, arguments: [] },
    file: fileOf(script) ?? script.from,
    why: `${which} of ${script.from}${script.isLikeProject ? ", named like the project" : ""}; it calls ${script.target}`,
  }));
  const [first] = scripts;
  const file = first === undefined ? null : fileOf(first);
  // If there are several and none is named like the project or a server, a file with a server is likelier.
  const isClear = first !== undefined && (first.rank < 4 || scripts.length === 1);
  const likely = isClear && (file === null || isServerCode(own, texts, file)) ? 1 : 0;
  return { likely: offers.slice(0, likely), others: offers.slice(likely) };
}

/** Names of commands beside a server, which set up its machine or use it. */
const helper =
  /(?:^|[-_.])(?:auth|cli|client|config|configure|demo|doctor|download|init|install|installer|login|setup|test|uninstall|update)$/i;

/** Lower is more likely. A library's own command, named like it, comes after its command for MCP. */
function rankOf(name: string, likeProject: boolean): number {
  if (/mcp/i.test(name)) return likeProject ? 0 : helper.test(name) ? 1.5 : 1;
  if (likeProject) return 2;
  return /server/i.test(name) && !helper.test(name) ? 3 : 4;
}

/** Scripts of a project that isn't installed have no name to run, but their function has. */
function scriptsOf(texts: Texts, pyproject: Pyproject | null): readonly Script[] {
  const declared = Object.entries(pyproject?.scripts ?? {}).map(([name, target]) => ({
    name,
    target,
    from: "pyproject.toml",
    entrypoint: pyproject?.install === "none" ? target : name,
  }));
  if (declared.length > 0) return declared;
  return setupScripts(texts).map(({ name, target, from }) => ({ name, target, from, entrypoint: target }));
}

function packageOffers(own: ReadonlySet<string>, texts: Texts, pyproject: Pyproject | null): Ranked {
  const roots = importRootsOf(pyproject);
  const packages = [...own].flatMap((file) => {
    const root = roots.find((each) => each !== "" && file.startsWith(`${each}/`)) ?? "";
    const [name = "", main, ...more] = file.slice(root === "" ? 0 : root.length + 1).split("/");
    if (main !== "__main__.py" || more.length > 0 || !dotted.test(name)) return [];
    const why = `a package, run as \`python -m ${name}\``;
    return [{ program: { entrypoint: name, arguments: [] }, file, why }];
  });
  packages.sort((a, b) => a.file.localeCompare(b.file));
  const offers = packages.slice(0, maxPrograms);
  const likely = offers.filter(({ file }) => isServerCode(own, texts, file));
  return { likely, others: offers.filter((offer) => !likely.includes(offer)) };
}

/** A tree without code and with one dependency runs its console script, which the harness finds by its name. */
function dependencyOffers(own: ReadonlySet<string>, pyproject: Pyproject | null): readonly Offer[] {
  const [only, ...others] = dependencyNames(pyproject);
  if (only === undefined || others.length > 0 || hasCode(own)) return [];
  const why = "the only dependency of a project without code; its console script is run";
  return [{ program: { entrypoint: only, arguments: [] }, file: "pyproject.toml", why }];
}
