import type { PlanNote } from "./plan.ts";

export type PythonChoice = {
  /** A version (`3.12`) or a range (`>=3.11,<3.14`); null = any that the platform has. */
  readonly request: string | null;
  /** Where it was said, for sentences: a file name, or "the platform's default". */
  readonly from: string;
};

type Sources = {
  readonly versionFile: string | undefined;
  readonly requiresPython: { readonly range: string; readonly file: string } | null;
  readonly fastmcp: string | null;
};

/** BLD-3: `.python-version`, then `requires-python`, then fastmcp.json. Notes say which one and why. */
export function choosePython(sources: Sources, note: (note: PlanNote) => void): PythonChoice {
  const line = firstLine(sources.versionFile);
  if (line !== null) {
    const version = /^(?:cpython[-@]?|python[-@]?)?(3\.\d+)(\.\d+)?t?$/i.exec(line);
    if (version?.[1] !== undefined) {
      const patch = version[2] === undefined ? "" : ` (${line} asks for a patch release; any ${version[1]} is taken)`;
      note({ kind: "step", text: `Python ${version[1]}: .python-version says so${patch}.` });
      return { request: version[1], from: ".python-version" };
    }
    note({
      kind: "warning",
      text: `.python-version says "${line.slice(0, 40)}", which is no CPython 3 version: ignored.`,
    });
  }
  if (sources.requiresPython !== null) {
    const { range, file } = sources.requiresPython;
    note({ kind: "step", text: `Python ${range}: requires-python of ${file}.` });
    return { request: range, from: file };
  }
  if (sources.fastmcp !== null) {
    note({ kind: "step", text: `Python ${sources.fastmcp}: environment.python of fastmcp.json.` });
    return { request: sources.fastmcp, from: "fastmcp.json" };
  }
  note({
    kind: "step",
    text: "Python: nothing in the repository asks for a version, so the platform's default is taken.",
  });
  return { request: null, from: "the platform's default" };
}

function firstLine(text: string | undefined): string | null {
  const lines = (text ?? "").split(/\r?\n/).map((line) => line.replace(/#.*$/, "").trim());
  return lines.find((line) => line !== "") ?? null;
}
