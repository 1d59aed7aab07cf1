import { posix } from "node:path";
import { entrypointSchema } from "@towpath/core/project/schema";
import { BuildFailure, countOf, diagnosis } from "../failure.ts";
import type { SourceFacts } from "./facts.ts";
import type { PlanNote } from "./plan.ts";
import { findProgram, programCandidates } from "./program.ts";
import type { Pyproject } from "./pyproject.ts";

const likelyNames = ["server.py", "main.py", "app.py", "mcp_server.py", "echo.py"];

/**
 * Returns the file in which the entrypoint begins; the harness finds its object or function.
 * @throws BuildFailure `entrypoint_not_found`
 */
export function checkEntrypoint(
  facts: SourceFacts,
  entrypoint: string,
  pyproject: Pyproject | null,
  note: (note: PlanNote) => void,
): string {
  const [file = "", object] = entrypoint.split(":");
  const normal = posix.normalize(file);
  const outside = file === "" || normal.startsWith("../") || normal.startsWith("/");
  const step = (text: string) => note({ kind: "step", text: `Entrypoint ${text}` });
  if (!outside && facts.paths.has(normal)) {
    const found = object === undefined ? "its object is the first of mcp, server, app" : `its object is ${object}`;
    step(`${normal}: set under Settings → Build; ${found}.`);
    return normal;
  }
  const program = outside ? null : findProgram(facts.paths, entrypoint, pyproject);
  if (program === null) throw notFound(facts, file, programCandidates(facts.paths, pyproject));
  step(`${entrypoint}: set under Settings → Build; ${program.what}. The server that it starts is served.`);
  return program.file;
}

function notFound(facts: SourceFacts, file: string, programs: readonly string[]): BuildFailure {
  const candidates = [...programs, ...entrypointCandidates(facts.paths, file)].slice(0, 3);
  const python = [...facts.paths].filter((path) => path.endsWith(".py"));
  const instead =
    candidates.length > 0
      ? `Set the entrypoint under Settings → Build to what starts the server, for example ${candidates.map((path) => `\`${path}\``).join(" or ")}`
      : "Add the file, or set the entrypoint under Settings → Build to the file that defines the server";
  const detail =
    python.length === 0
      ? "There is no Python file in the repository, or in the root directory that is set for the project."
      : `The commit has ${countOf(python.length, "Python file")}, but not this one.`;
  return new BuildFailure(
    diagnosis(
      {
        code: "entrypoint_not_found",
        phase: "plan",
        title: `The entrypoint ${file || "(empty)"} doesn't exist`,
        detail,
        remedy: `${instead}, then build again.`,
      },
      {
        file: file || null,
        ...(candidates.length > 0 && { fix: { kind: "entrypoint" as const, candidates } }),
      },
    ),
  );
}

/** Up to three likely files: the same name in another directory, common names, then files at the top level. */
function entrypointCandidates(paths: ReadonlySet<string>, wanted: string): string[] {
  const python = [...paths].filter((path) => path.endsWith(".py") && !/(^|\/)(tests?|\.[^/]+)\//.test(path));
  const byDepth = (a: string, b: string) => a.split("/").length - b.split("/").length || a.localeCompare(b);
  const named = (names: readonly string[]) =>
    python.filter((path) => names.includes(posix.basename(path))).sort(byDepth);
  const top = python.filter((path) => !path.includes("/")).sort();
  const all = [...named([posix.basename(wanted)]), ...named(likelyNames), ...top];
  return [...new Set(all)].filter((path) => entrypointSchema.safeParse(path).success).slice(0, 3);
}
