import type { Pyproject } from "./pyproject.ts";

/** An entrypoint that is not a file (BLD-16), and the file that it starts in, for diagnoses. */
export type NamedProgram = { readonly file: string; readonly what: string };

/** A module's name, as `python -m` takes it. */
export const dotted = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*)*$/u;

/**
 * A console script of pyproject.toml, `package.module:function`, or a module for `python -m`, in this order, as in the
 * harness; null if it is none of them.
 */
export function findProgram(
  paths: ReadonlySet<string>,
  entrypoint: string,
  pyproject: Pyproject | null,
): NamedProgram | null {
  const [name = "", object] = entrypoint.split(":");
  const roots = importRootsOf(pyproject);
  const target = object === undefined ? scriptOf(pyproject, name) : null;
  if (target !== null) {
    const file = moduleFile(paths, roots, target.split(":")[0] ?? "", "__init__.py") ?? "pyproject.toml";
    return { file, what: `a console script of pyproject.toml, which calls ${target}` };
  }
  // The name of a missing file is not a program of a dependency.
  const runsDependency = !hasCode(paths) && !name.endsWith(".py");
  if (object === undefined && (dependencyNames(pyproject).includes(name) || runsDependency)) {
    return { file: "pyproject.toml", what: "a console script of a dependency" };
  }
  if (!dotted.test(name)) return null;
  if (runsDependency) return { file: "pyproject.toml", what: `the function ${object} of a dependency's module` };
  const file = moduleFile(paths, roots, name, object === undefined ? "__main__.py" : "__init__.py");
  if (file === null) return null;
  return { file, what: object === undefined ? `run as \`python -m ${name}\`` : `the function ${object} of ${file}` };
}

/** Whether a tree has Python files. Without them it can only run programs of its dependencies. */
export const hasCode = (paths: ReadonlySet<string>): boolean => [...paths].some((path) => path.endsWith(".py"));

/** Names of the packages that pyproject.toml depends on, as written there. */
export const dependencyNames = (pyproject: Pyproject | null): readonly string[] =>
  (pyproject?.dependencies ?? []).flatMap((text) => /^\s*([A-Za-z0-9][A-Za-z0-9._-]*)/.exec(text)?.[1] ?? []);

export const importRootsOf = (pyproject: Pyproject | null): readonly string[] => pyproject?.importRoots ?? ["", "src"];

function scriptOf(pyproject: Pyproject | null, name: string): string | null {
  if (pyproject === null || pyproject.install === "none" || !Object.hasOwn(pyproject.scripts, name)) return null;
  return pyproject.scripts[name] ?? null;
}

/** The module's file, or the file `inPackage` of a package. */
export function moduleFile(
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
