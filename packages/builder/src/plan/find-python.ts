import { type ResolvedPython, resolvePython } from "@towpath/runtime";
import type { Diagnosis } from "../contract.ts";
import { diagnosis } from "../failure.ts";
import type { PythonChoice } from "./python-version.ts";

const minors = ["3.10", "3.11", "3.12", "3.13", "3.14", "3.15"];

/** The oldest Python that FastMCP and the mcp package run on: preferred when a range allows older ones. */
const oldestSupported = ">=3.10";

/** The Python for a request; null when this host has none. */
export async function findPython(request: string | null, uv: string): Promise<ResolvedPython | null> {
  const range = request === null ? oldestSupported : `${request},${oldestSupported}`;
  const isRange = request === null || /^[<>=!~]/.test(request);
  const supported = isRange ? await resolvePython({ uv, version: range }) : null;
  return supported ?? resolvePython({ uv, version: request });
}

/** Says which Python was asked for where, and which ones there are. */
export async function pythonUnavailable(
  choice: PythonChoice,
  uv: string,
  defaultPython: string | null,
): Promise<Diagnosis> {
  const found = await Promise.all(minors.map((version) => resolvePython({ uv, version })));
  const available = found.flatMap((python) => (python === null ? [] : [python.version]));
  const has = available.length === 0 ? "It has none." : `It has ${available.join(", ")}.`;
  const own = choice.request === null;
  const wanted = choice.request ?? defaultPython ?? "";
  return diagnosis(
    {
      code: "python_unavailable",
      phase: "plan",
      title: own ? "This platform has no Python" : `Python ${wanted} is not available`,
      detail: own ? has : `${choice.from} asks for Python ${wanted}, which this platform does not have. ${has}`,
      remedy: own
        ? "Tell the operator."
        : `Change ${choice.from} to a version that is available, or ask the operator to install Python ${wanted}.`,
    },
    { file: own ? null : choice.from },
  );
}
