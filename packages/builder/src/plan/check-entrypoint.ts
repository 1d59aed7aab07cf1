import { posix } from "node:path";
import { entrypointSchema } from "@towpath/core/project/schema";
import { BuildFailure, countOf, diagnosis } from "../failure.ts";
import type { SourceFacts } from "./facts.ts";
import type { PlanNote } from "./plan.ts";

const likelyNames = ["server.py", "main.py", "app.py", "mcp_server.py", "echo.py"];

/** Returns the entrypoint's file; the harness checks its object. @throws BuildFailure `entrypoint_not_found` */
export function checkEntrypoint(facts: SourceFacts, entrypoint: string, note: (note: PlanNote) => void): string {
  const [file = "", object] = entrypoint.split(":");
  const normal = posix.normalize(file);
  const outside = file === "" || normal.startsWith("../") || normal.startsWith("/");
  if (outside || !facts.paths.has(normal)) throw notFound(facts, file);
  const found = object === undefined ? "its object is the first of mcp, server, app" : `its object is ${object}`;
  note({ kind: "step", text: `Entrypoint ${normal}: set under Settings → Build; ${found}.` });
  return normal;
}

function notFound(facts: SourceFacts, file: string): BuildFailure {
  const candidates = entrypointCandidates(facts.paths, file);
  const python = [...facts.paths].filter((path) => path.endsWith(".py"));
  const instead =
    candidates.length > 0
      ? `Set the entrypoint under Settings → Build to the right file, for example ${candidates.map((path) => `\`${path}\``).join(" or ")}`
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
