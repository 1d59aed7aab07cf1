import { readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * A search path with pyenv's Pythons themselves in place of its shims. A shim runs only the versions that the user made
 * global, fails for the others, and is a script that takes seconds on a busy machine. The global versions take the
 * shims' place; the others come last, newest first, so that they don't matter to requests without a version.
 *
 * @returns `env.PATH` if there is no pyenv
 */
export function pathWithPyenv(env: Readonly<Record<string, string | undefined>>): string {
  const path = (env.PATH ?? "").split(delimiter).filter((directory) => directory !== "");
  const root = env.PYENV_ROOT ?? (env.HOME === undefined ? null : join(env.HOME, ".pyenv"));
  const installed = root === null ? [] : versionsIn(join(root, "versions"));
  if (root === null || installed.length === 0) return env.PATH ?? "";
  const global = (env.PYENV_VERSION?.split(":") ?? linesOf(join(root, "version"))).filter((version) =>
    installed.includes(version),
  );
  const directoryOf = (version: string) => join(root, "versions", version, "bin");
  const shims = join(root, "shims");
  return [
    ...path.flatMap((directory) => (directory === shims ? global.map(directoryOf) : [directory])),
    ...installed.filter((version) => !(global.includes(version) && path.includes(shims))).map(directoryOf),
  ].join(delimiter);
}

/** Released CPythons that servers can run on, 3.10 and newer, newest first. pyenv's other names begin with theirs. */
function versionsIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => /^3\.[1-9]\d+\.\d+$/.test(name))
      .sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  } catch {
    return [];
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}
