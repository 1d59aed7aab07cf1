import { BuildFailure, diagnosis } from "../failure.ts";
import type { SourceFacts } from "./facts.ts";
import { type FastmcpJson, parseFastmcpJson } from "./fastmcp-json.ts";
import { type LockFacts, type Pyproject, parseLock, parsePyproject } from "./pyproject.ts";
import { parseScriptBlock, type ScriptBlock } from "./script-block.ts";

/** The files that speak of the build, understood; null for those that are not there. */
export type ProjectFiles = {
  readonly pyproject: Pyproject | null;
  readonly lock: LockFacts | null;
  readonly fastmcp: FastmcpJson | null;
  readonly script: ScriptBlock | null;
  readonly scriptFile: string;
};

/** @throws BuildFailure `invalid_project_file` (`lock_outdated` for a lock) naming the file and, if known, the line */
export function parseProjectFiles(facts: SourceFacts, entryFile: string): ProjectFiles {
  const parsed = <T>(file: string, parse: (text: string) => T): T | null => {
    const text = facts.texts.get(file);
    if (text === undefined) return null;
    try {
      return parse(text);
    } catch (error) {
      throw malformed(file, error);
    }
  };
  return {
    pyproject: parsed("pyproject.toml", parsePyproject),
    lock: parsed("uv.lock", parseLock),
    fastmcp: parsed("fastmcp.json", parseFastmcpJson),
    script: parsed(entryFile, parseScriptBlock),
    scriptFile: entryFile,
  };
}

function malformed(file: string, error: unknown): BuildFailure {
  const message = error instanceof Error ? error.message : "it cannot be read";
  const line = error instanceof Error && "line" in error && typeof error.line === "number" ? error.line : null;
  // smol-toml draws the place below its first line.
  const [reason = "", ...drawing] = message.split("\n");
  const isLock = file === "uv.lock";
  return new BuildFailure(
    diagnosis(
      {
        code: isLock ? "lock_outdated" : "invalid_project_file",
        phase: "plan",
        title: `${file} cannot be understood`,
        detail: `${reason.replace(/^Invalid TOML document: /, "")}${line === null ? "" : ` (line ${line})`}.`,
        remedy: isLock
          ? "Run `uv lock` (a merge conflict may be left in the file), commit uv.lock and push."
          : `Correct ${file} and push again.`,
      },
      { file, line, excerpt: drawing.join("\n").trim() === "" ? null : drawing.join("\n") },
    ),
    error,
  );
}
