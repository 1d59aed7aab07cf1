import { createHash } from "node:crypto";
import type { BuildLogKind, Program } from "@towpath/core/build/contract";
import { chooseDependencies, type Dependencies } from "./choose-dependencies.ts";
import { chooseProgram, type OtherProgram } from "./choose-program.ts";
import type { PlanSettings, SourceFacts } from "./facts.ts";
import { type ProjectFiles, parseProjectFile, parseProjectFiles } from "./project-files.ts";
import { choosePython, type PythonChoice, type PythonRange } from "./python-version.ts";

export type PlanNote = { readonly kind: BuildLogKind; readonly text: string };

/** How the project's own package becomes importable without putting its code into the dependency layer. */
type ProjectInstall = {
  /** `path`: its directories are added to the import path. `build`: it must be built (native code). */
  readonly mode: "none" | "path" | "build";
  readonly name: string | null;
  readonly version: string | null;
  /** Directories that packages are imported from, relative to the root directory. */
  readonly importRoots: readonly string[];
  /** Console scripts, as `package.module:function` by name; absent without any. */
  readonly scripts?: Readonly<Record<string, string>>;
};

export type Plan = {
  readonly program: Program;
  readonly entryFile: string;
  /** What else may start the server, if the program doesn't: only where it was found, not set. */
  readonly others: readonly OtherProgram[];
  readonly python: PythonChoice;
  readonly dependencies: Dependencies;
  readonly project: ProjectInstall;
  /** Something is built from the repository: that needs a writable copy, and the layer then depends on the code. */
  readonly usesTree: boolean;
  /** Digest of everything that the resolution reads from the repository. */
  readonly inputDigest: string;
  /** Each choice with its reason, for the build log. */
  readonly notes: readonly PlanNote[];
};

/**
 * Decides how to build. Pure.
 * @throws BuildFailure with phase `plan`
 */
export function makePlan(facts: SourceFacts, settings: PlanSettings): Plan {
  const notes: PlanNote[] = [];
  const note = (entry: PlanNote) => void notes.push(entry);
  const declared = parseProjectFile(facts);
  const { program, entryFile, others } = chooseProgram(facts, settings, declared, note);
  const files = parseProjectFiles(facts, entryFile, declared);
  const dependencies = chooseDependencies(facts, settings, files, note);
  const { pyproject, fastmcp } = files;
  const python = choosePython(
    {
      versionFile: facts.texts.get(".python-version"),
      requiresPython: requiredPython(files, dependencies),
      fastmcp: fastmcp?.python ?? null,
    },
    note,
  );
  const project: ProjectInstall = {
    mode: pyproject?.install ?? "none",
    name: pyproject?.name ?? null,
    version: pyproject?.version ?? null,
    importRoots: pyproject?.importRoots ?? [""],
    ...(Object.keys(pyproject?.scripts ?? {}).length > 0 && { scripts: pyproject?.scripts ?? {} }),
  };
  noteProject(project, note);
  const usesTree = dependencies.usesTree || project.mode === "build";
  return {
    program,
    entryFile,
    others,
    python,
    dependencies,
    project,
    usesTree,
    inputDigest: inputDigest(facts, dependencies, usesTree),
    notes,
  };
}

/**
 * `requires-python` of the file that lists the dependencies, else that of the project. uv writes it into every lock and
 * rejects any other Python: a lock that was made for fewer versions than the project allows limits them too.
 */
function requiredPython(files: ProjectFiles, { kind }: Dependencies): PythonRange | null {
  const { script, scriptFile, pyproject, lock } = files;
  if (kind === "script" && script?.requiresPython) return { range: script.requiresPython, file: scriptFile };
  const project = pyproject?.requiresPython ?? null;
  const locked = kind === "uv-lock" ? (lock?.requiresPython ?? null) : null;
  if (project === null) return locked === null ? null : { range: locked, file: "uv.lock" };
  if (locked === null || locked.replaceAll(/\s/g, "") === project.replaceAll(/\s/g, "")) {
    return { range: project, file: "pyproject.toml" };
  }
  return { range: `${project},${locked}`, file: "pyproject.toml and uv.lock" };
}

function noteProject(project: ProjectInstall, note: (note: PlanNote) => void): void {
  if (project.mode === "path") {
    const roots = project.importRoots.map((root) => (root === "" ? "the root" : root)).join(", ");
    note({
      kind: "step",
      text: `Package ${project.name ?? "of this repository"}: imported from ${roots}, not installed, so that a change of code alone reuses the dependencies.`,
    });
  }
  if (project.mode === "build") {
    note({
      kind: "step",
      text: `Package ${project.name ?? "of this repository"}: its build backend compiles code, so it is built and installed.`,
    });
  }
}

function inputDigest(facts: SourceFacts, dependencies: Dependencies, usesTree: boolean): string {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([dependencies.kind, dependencies.file, dependencies.requirements]));
  for (const path of dependencies.inputs) hash.update(JSON.stringify([path, facts.texts.get(path) ?? null]));
  if (usesTree) hash.update(facts.digest);
  return hash.digest("hex");
}
