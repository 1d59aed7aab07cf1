import { satisfies, validRange } from "@renovatebot/pep440";
import type { PlanNote } from "./plan.ts";
import { parsePyproject } from "./pyproject.ts";

/** Versions that a file allows, as PEP 440 specifiers (`>=3.11,<3.14`). */
export type PythonRange = { readonly range: string; readonly file: string };

export type PythonChoice = {
  /** A version (`3.12`) or a range (`>=3.11,<3.14`); null: any that the platform has. */
  readonly request: string | null;
  /** Its source, for messages: a file name, or "the platform's default". */
  readonly from: string;
  /** What another version must satisfy when the platform lacks `request`; null: any supported version will do. */
  readonly within: PythonRange | null;
};

type Sources = {
  readonly versionFile: string | undefined;
  readonly requiresPython: PythonRange | null;
  readonly fastmcp: string | null;
};

/** BLD-3: `.python-version`, then `requires-python`, then fastmcp.json. Notes the choice and its reason. */
export function choosePython(sources: Sources, note: (note: PlanNote) => void): PythonChoice {
  const within = sources.requiresPython;
  const line = firstLine(sources.versionFile);
  if (line !== null) {
    const version = /^(?:cpython[-@]?|python[-@]?)?(3\.\d{1,3})(\.\d{1,3})?t?$/i.exec(line);
    if (version?.[1] !== undefined && within !== null && !allows(within.range, version[1])) {
      note({
        kind: "warning",
        text: `.python-version is ignored: it asks for Python ${version[1]}; ${within.range} is required (${within.file}).`,
      });
    } else if (version?.[1] !== undefined) {
      const patch =
        version[2] === undefined ? "" : ` (it asks for ${line}; any patch release of ${version[1]} will do)`;
      note({ kind: "step", text: `Python ${version[1]}: set in .python-version${patch}.` });
      return { request: version[1], from: ".python-version", within };
    } else {
      note({
        kind: "warning",
        text: `.python-version is ignored: "${line.slice(0, 40)}" is not a CPython 3 version.`,
      });
    }
  }
  if (within !== null) {
    const { range, file } = within;
    note({ kind: "step", text: `Python ${range}: requires-python of ${file}.` });
    return { request: range, from: file, within };
  }
  if (sources.fastmcp !== null) {
    note({ kind: "step", text: `Python ${sources.fastmcp}: environment.python of fastmcp.json.` });
    // A single version is the author's own; only a range says what the code supports.
    const range = isRange(sources.fastmcp) ? { range: sources.fastmcp, file: "fastmcp.json" } : null;
    return { request: sources.fastmcp, from: "fastmcp.json", within: range };
  }
  note({
    kind: "step",
    text: "Python: the repository requests no version, so the platform's default is used.",
  });
  return { request: null, from: "the platform's default", within: null };
}

/**
 * What a tree asks for by the texts of its `.python-version` and `pyproject.toml`, for people who look at it before a build
 * reads the rest. Null: nothing, or nothing that can be read.
 */
export function requestedPython(texts: {
  readonly versionFile: string | null;
  readonly pyproject: string | null;
}): Pick<PythonChoice, "request" | "from"> | null {
  const range = rangeOf(texts.pyproject);
  const requiresPython = range === null ? null : { range, file: "pyproject.toml" };
  const sources = { versionFile: texts.versionFile ?? undefined, requiresPython, fastmcp: null };
  const { request, from } = choosePython(sources, () => {});
  return request === null ? null : { request, from };
}

function rangeOf(pyproject: string | null): string | null {
  try {
    return pyproject === null ? null : parsePyproject(pyproject).requiresPython;
  } catch {
    return null;
  }
}

/** Whether a range may include a release of a minor version. What isn't a range, uv reports. */
const allows = (range: string, minor: string): boolean =>
  !validRange(range) || [0, 99].some((patch) => satisfies(`${minor}.${patch}`, range));

/** Whether a request is a range of versions. */
export const isRange = (request: string): boolean => /^\s*[<>=!~]/.test(request);

const maxVersionFileCharacters = 4_096;

function firstLine(text: string | undefined): string | null {
  const lines = (text ?? "").slice(0, maxVersionFileCharacters).split("\n");
  const values = lines.map((line) => (line.split("#", 1)[0] ?? "").trim());
  return values.find((line) => line !== "") ?? null;
}
