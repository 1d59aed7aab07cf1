import { projectNameSchema } from "@towpath/core/project/schema";

const usualNames = ["server.py", "main.py", "app.py", "mcp_server.py", "echo.py", "__main__.py"];
const skipped = /(^|\/)(\.[^/]+|tests?|docs?|examples?|build|dist|node_modules|site-packages|venv)\//i;
const requirementsPattern = /(^|\/)(requirements[\w.-]*\.txt)$/i;

/** Candidates are only suggestions: the user knows which file is the server. */
const maxCandidates = 8;

/**
 * Files of a repository that may be the server, most likely first, and files that list requirements. Usual names near
 * the root come first; tests, examples and hidden directories are left out.
 */
export function entrypointCandidates(paths: readonly string[]): {
  readonly entrypoints: readonly string[];
  readonly requirementFiles: readonly string[];
} {
  const kept = paths.filter((path) => path.length <= 128 && !skipped.test(path));
  const python = kept.filter(
    (path) => /\.py$/.test(path) && !/(^|\/)(setup|conftest|test_[^/]*|[^/]*_test)\.py$/.test(path),
  );
  return {
    entrypoints: python.toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b)).slice(0, maxCandidates),
    requirementFiles: kept.filter((path) => requirementsPattern.test(path)).slice(0, maxCandidates),
  };
}

/** Lower is more likely. */
function rank(path: string): number {
  const name = path.split("/").at(-1) ?? "";
  const usual = usualNames.indexOf(name);
  const depth = path.split("/").length - 1;
  const quality = usual === -1 ? (/mcp|server/.test(name) ? usualNames.length : usualNames.length + 4) : usual;
  return quality + depth * 5;
}

/** A repository's name as a server name, null when it cannot be one (VAL-1). */
export function serverNameFrom(repository: string): string | null {
  const name = repository
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 32)
    .replace(/^-|-$/g, "");
  return projectNameSchema.safeParse(name).success ? name : null;
}
