import type { BuildPhase, Diagnosis } from "@towpath/core/delivery/build/contract";
import { changeSettings, diagnosis, quoted } from "../failure.ts";
import type { Pin } from "../source/requirements-file.ts";

// For sources without a server, if that is known only after the plan. All pure.

/** For files that were tried only for their names, and none of which is a server. */
export const noServerStarts = (files: readonly string[]): Diagnosis =>
  nothingFound(
    "inspect",
    `${quoted(files)} ${files.length === 1 ? "was" : "were"} tried as the likeliest by name, and start none. It may be a library, or for another use of MCP.`,
  );

/** For a repository unrelated to MCP, known before anything is installed. */
export const withoutMcp: Diagnosis = nothingFound(
  "install",
  "No Python file mentions MCP, and no package that it requires is for it, so nothing was installed.",
);

function nothingFound(phase: BuildPhase, why: string): Diagnosis {
  return diagnosis(phase, "entrypoint_not_found", changeSettings("build"), {
    title: "No server was found in the repository",
    detail: `It has no fastmcp.json, console script or package with a __main__.py for one, and no file that defines one. ${why}`,
    remedy:
      "If there is a server, set the entrypoint under Settings → Build to what starts it, then rebuild. A library has none: deploy a server that uses it.",
  });
}

/** For a package of the index, known before its requirements are installed. */
export const noServerIn = ({ name, version }: Pin, lacks: "program" | "mcp"): Diagnosis => {
  const [title, detail] =
    lacks === "program"
      ? [
          `The package ${name} has nothing that can be started`,
          `${name} ${version} has no console script, and no package with a \`__main__\`: it may be a library. So what it requires wasn't installed.`,
        ]
      : [
          `The package ${name} is no MCP server`,
          `No file of ${name} ${version} mentions MCP, and no package that it requires is for it, so they weren't installed.`,
        ];
  return diagnosis("install", "entrypoint_not_found", changeSettings("build"), {
    title,
    detail,
    remedy: "Set the entrypoint under Settings → Build to what starts a server, if there is one.",
  });
};
