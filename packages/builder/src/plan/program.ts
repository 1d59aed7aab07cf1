import { entrypointSchema } from "@towpath/core/project/schema";
import type { Pyproject } from "./pyproject.ts";

/** An entrypoint that is no file (BLD-16), and the file in which it begins, which diagnoses name. */
export type Program = { readonly file: string; readonly what: string };

const dotted = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*)*$/u;

/**
 * A console script of pyproject.toml, `package.module:function`, or what `python -m` runs, in this order, as the harness
 * looks for it; null when it is none of them.
 */
export function findProgram(
  paths: ReadonlySet<string>,
  entrypoint: string,
  pyproject: Pyproject | null,
): Program | null {
  const [name = "", object] = entrypoint.split(":");
  const roots = pyproject?.importRoots ?? ["", "src"];
  const target = object === undefined ? scriptOf(pyproject, name) : null;
  if (target !== null) {
    const file = moduleFile(paths, roots, target.split(":")[0] ?? "", "__init__.py") ?? "pyproject.toml";
    return { file, what: `a console script of pyproject.toml, which calls ${target}` };
  }
  if (!dotted.test(name)) return null;
  const file = moduleFile(paths, roots, name, object === undefined ? "__main__.py" : "__init__.py");
  if (file === null) return null;
  return { file, what: object === undefined ? `run as \`python -m ${name}\`` : `the function ${object} of ${file}` };
}

/** What starts the server, most likely first: the only console script or the one named like the project, packages. */
export function programCandidates(paths: ReadonlySet<string>, pyproject: Pyproject | null): string[] {
  const scripts = pyproject?.install === "none" ? [] : Object.keys(pyproject?.scripts ?? {});
  const [only] = scripts;
  const named = scripts.find((name) => plain(name) === plain(pyproject?.name ?? ""));
  const script = scripts.length === 1 ? only : named;
  const roots = pyproject?.importRoots ?? ["", "src"];
  const packages = [...paths].flatMap((path) => {
    const root = roots.find((each) => path.startsWith(each === "" ? "" : `${each}/`) && each !== "") ?? "";
    const [name = "", main, ...more] = path.slice(root === "" ? 0 : root.length + 1).split("/");
    return main === "__main__.py" && more.length === 0 && dotted.test(name) && !/^tests?$/.test(name) ? [name] : [];
  });
  const all = [...(script === undefined ? [] : [script]), ...packages.sort()];
  return [...new Set(all)].filter((text) => entrypointSchema.safeParse(text).success);
}

const plain = (name: string) => name.toLowerCase().replace(/[-_.]+/g, "-");

function scriptOf(pyproject: Pyproject | null, name: string): string | null {
  if (pyproject === null || pyproject.install === "none" || !Object.hasOwn(pyproject.scripts, name)) return null;
  return pyproject.scripts[name] ?? null;
}

/** The module's file, or the file `inPackage` of a package. */
function moduleFile(
  paths: ReadonlySet<string>,
  roots: readonly string[],
  module: string,
  inPackage: string,
): string | null {
  const path = module.replaceAll(".", "/");
  const files = roots
    .map((root) => (root === "" ? path : `${root}/${path}`))
    .flatMap((at) => [`${at}.py`, `${at}/${inPackage}`]);
  return files.find((file) => paths.has(file)) ?? null;
}
