import { BuildFailure, changeCodeBy, diagnosis } from "../failure.ts";
import type { SourceFacts } from "./facts.ts";
import { type FastmcpJson, parseFastmcpJson } from "./fastmcp-json.ts";
import { type LockFacts, type Pyproject, parseLock, parsePyproject } from "./pyproject.ts";
import { parseScriptBlock, type ScriptBlock } from "./script-block.ts";

/** The parsed project files; null for those that don't exist. */
export type ProjectFiles = {
  readonly pyproject: Pyproject | null;
  readonly lock: LockFacts | null;
  readonly fastmcp: FastmcpJson | null;
  readonly script: ScriptBlock | null;
  readonly scriptFile: string;
};

/** @throws BuildFailure `invalid_project_file` */
export const parseProjectFile = (facts: SourceFacts): Pyproject | null =>
  parsed(facts, "pyproject.toml", parsePyproject);

/** @throws BuildFailure `invalid_project_file` (`lock_outdated` for a lock) with the file and, if known, the line */
export function parseProjectFiles(facts: SourceFacts, entryFile: string, pyproject: Pyproject | null): ProjectFiles {
  return {
    pyproject,
    lock: parsed(facts, "uv.lock", (text) => parseLock(text, workspaceMember(facts))),
    fastmcp: parsed(facts, "fastmcp.json", parseFastmcpJson),
    script: parsed(facts, entryFile, parseScriptBlock),
    scriptFile: entryFile,
  };
}

const workspaceMember = ({ context }: SourceFacts) => (context?.isWorkspace ? context.project : undefined);

function parsed<T>(facts: SourceFacts, file: string, parse: (text: string) => T): T | null {
  const text = facts.texts.get(file);
  if (text === undefined) return null;
  try {
    return parse(text);
  } catch (error) {
    throw malformed(file, error);
  }
}

function malformed(file: string, error: unknown): BuildFailure {
  const message = error instanceof Error ? error.message : "it can't be read";
  const line = error instanceof Error && "line" in error && typeof error.line === "number" ? error.line : null;
  // After the first line, smol-toml's message shows the position.
  const [reason = "", ...drawing] = message.split("\n");
  const isLock = file === "uv.lock";
  const action = changeCodeBy(isLock ? { kind: "delete", file } : null);
  return new BuildFailure(
    diagnosis("plan", isLock ? "lock_outdated" : "invalid_project_file", action, {
      title: `${file} can't be parsed`,
      detail: `${reason.replace(/^Invalid TOML document: /, "")}${line === null ? "" : ` (line ${line})`}.`,
      remedy: isLock
        ? "Check the file for an unresolved merge conflict, run `uv lock`, commit uv.lock and push."
        : `Correct ${file} and push again.`,
      file,
      line,
      excerpt: drawing.join("\n").trim() === "" ? null : drawing.join("\n"),
    }),
    error,
  );
}
