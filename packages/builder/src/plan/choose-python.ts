import { satisfies, validRange } from "@renovatebot/pep440";
import { parsePyproject } from "../source/pyproject.ts";
import { PlanLog } from "./plan-log.ts";

/** Versions that a file allows, as PEP 440 specifiers (`>=3.11,<3.14`). */
export type PythonRange = { readonly range: string; readonly file: string };

export type PythonChoice = {
  /** A version (`3.12`) or a range (`>=3.11,<3.14`); null: any that the platform has. */
  readonly request: string | null;
  /** Its source, for messages: a file name, or "the platform's default". */
  readonly from: string;
  /** What another version must satisfy if the platform lacks `request`; null: any supported version will do. */
  readonly within: PythonRange | null;
};

type Sources = {
  readonly versionFile: string | undefined;
  readonly requiresPython: PythonRange | null;
  readonly fastmcp: string | null;
};

/** BLD-3: `.python-version`, then `requires-python`, then fastmcp.json. Logs the choice and its reason. */
export function choosePython(sources: Sources, log: PlanLog): PythonChoice {
  const { requiresPython: within, fastmcp } = sources;
  const pinned = fromVersionFile(sources, log);
  if (pinned !== null) return { request: pinned, from: ".python-version", within };
  if (within !== null) {
    log.step(`Python ${within.range}: requires-python of ${within.file}.`);
    return { request: within.range, from: within.file, within };
  }
  if (fastmcp !== null) {
    log.step(`Python ${fastmcp}: environment.python of fastmcp.json.`);
    // A single version is the author's own; only a range says what the code supports.
    const range = isRange(fastmcp) ? { range: fastmcp, file: "fastmcp.json" } : null;
    return { request: fastmcp, from: "fastmcp.json", within: range };
  }
  log.step("Python: the repository requests no version, so the platform's default is used.");
  return { request: null, from: "the platform's default", within: null };
}

/** The minor version that `.python-version` requests; null if there is no valid one. */
function fromVersionFile({ versionFile, requiresPython }: Sources, log: PlanLog): string | null {
  const line = firstLine(versionFile);
  if (line === null) return null;
  const [, version, patch] = /^(?:cpython[-@]?|python[-@]?)?(3\.\d{1,3})(\.\d{1,3})?t?$/i.exec(line) ?? [];
  if (version === undefined) {
    log.warn(`.python-version is ignored: "${line.slice(0, 40)}" is not a CPython 3 version.`);
    return null;
  }
  if (requiresPython !== null && !allows(requiresPython.range, version)) {
    const { range, file } = requiresPython;
    log.warn(`.python-version is ignored: it asks for Python ${version}; ${range} is required (${file}).`);
    return null;
  }
  const any = patch === undefined ? "" : ` (it asks for ${line}; any patch release of ${version} will do)`;
  log.step(`Python ${version}: set in .python-version${any}.`);
  return version;
}

/**
 * The version that a tree requests in its `.python-version` and `pyproject.toml`, for people who look at it before a
 * build reads the rest. Null: none, or unreadable.
 */
export function requestedPython(texts: {
  readonly versionFile: string | null;
  readonly pyproject: string | null;
}): Pick<PythonChoice, "request" | "from"> | null {
  const range = rangeOf(texts.pyproject);
  const requiresPython = range === null ? null : { range, file: "pyproject.toml" };
  const sources = { versionFile: texts.versionFile ?? undefined, requiresPython, fastmcp: null };
  const { request, from } = choosePython(sources, new PlanLog());
  return request === null ? null : { request, from };
}

/** The range of `requires-python` in a pyproject.toml; null: none, or unreadable. */
export function rangeOf(pyproject: string | null): string | null {
  try {
    return pyproject === null ? null : parsePyproject(pyproject).requiresPython;
  } catch {
    return null;
  }
}

/** Whether a range may include a release of a minor version. uv reports malformed ranges. */
export const allows = (range: string, minor: string): boolean =>
  !validRange(range) || [0, 99].some((patch) => satisfies(`${minor}.${patch}`, range));

/** Whether a request is a range of versions. */
export const isRange = (request: string): boolean => /^\s*[<>=!~]/.test(request);

const maxVersionFileCharacters = 4_096;

function firstLine(text: string | undefined): string | null {
  const lines = (text ?? "").slice(0, maxVersionFileCharacters).split("\n");
  const values = lines.map((line) => (line.split("#", 1)[0] ?? "").trim());
  return values.find((line) => line !== "") ?? null;
}
