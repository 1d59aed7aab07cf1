import { posix } from "node:path";
import { BuildFailure, diagnosis } from "../failure.ts";
import type { SourceFacts } from "./facts.ts";
import type { PlanNote } from "./plan.ts";

const likelyNames = ["server.py", "main.py", "app.py", "mcp_server.py", "echo.py"];

/** The entrypoint's file; its object is the harness's matter. @throws BuildFailure `entrypoint_not_found` */
export function checkEntrypoint(facts: SourceFacts, entrypoint: string, note: (note: PlanNote) => void): string {
  const [file = "", object] = entrypoint.split(":");
  const normal = posix.normalize(file);
  const outside = file === "" || normal.startsWith("../") || normal.startsWith("/");
  if (outside || !facts.paths.has(normal)) throw notFound(facts, file);
  const found = object === undefined ? "its object is found by the names mcp, server, app" : `its object is ${object}`;
  note({ kind: "step", text: `Entrypoint ${normal}: set under Settings → Build; ${found}.` });
  return normal;
}

function notFound(facts: SourceFacts, file: string): BuildFailure {
  const candidates = entrypointCandidates(facts.paths, file);
  const python = [...facts.paths].filter((path) => path.endsWith(".py"));
  const instead =
    candidates.length > 0
      ? `Set the entrypoint under Settings → Build to the right file, for example ${candidates.map((path) => `\`${path}\``).join(" or ")}`
      : "Add the file, or set the entrypoint under Settings → Build to the file that makes the server";
  const detail =
    python.length === 0
      ? "The repository has no Python file at all (in its root directory)."
      : `The commit has ${python.length} Python ${python.length === 1 ? "file" : "files"}, but not this one.`;
  return new BuildFailure(
    diagnosis(
      {
        code: "entrypoint_not_found",
        phase: "plan",
        title: `The entrypoint ${file || "(empty)"} does not exist`,
        detail,
        remedy: `${instead}, then build again.`,
      },
      { file: file || null },
    ),
  );
}

/** Up to three files that could have been meant: same name elsewhere, usual names, else the only files at the top. */
function entrypointCandidates(paths: ReadonlySet<string>, wanted: string): string[] {
  const python = [...paths].filter((path) => path.endsWith(".py") && !/(^|\/)(tests?|\.[^/]+)\//.test(path));
  const byDepth = (a: string, b: string) => a.split("/").length - b.split("/").length || a.localeCompare(b);
  const named = (names: readonly string[]) =>
    python.filter((path) => names.includes(posix.basename(path))).sort(byDepth);
  const top = python.filter((path) => !path.includes("/")).sort();
  return [...new Set([...named([posix.basename(wanted)]), ...named(likelyNames), ...top])].slice(0, 3);
}
