import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Program } from "@towpath/core/delivery/build/contract";
import type { BuildContext } from "../source/build-context.ts";
import type { PlanSettings, SourceFacts } from "../source/facts.ts";
import { hasCode } from "../source/named-program.ts";
import { type ProjectFiles, parseProjectFile, parseProjectFiles } from "../source/project-files.ts";
import { normalizeName, type Pin } from "../source/requirements-file.ts";
import { chooseDependencies, type Dependencies } from "./choose-dependencies.ts";
import { chooseProgram, type OtherProgram } from "./choose-program.ts";
import { choosePython, type PythonChoice, type PythonRange } from "./choose-python.ts";
import { PlanLog, type PlanLogLine } from "./plan-log.ts";

/** How the project's own package becomes importable without putting its code into the dependency layer. */
type ProjectInstall = {
  /**
   * `path`: its directories are added to the import path. `build`: it must be built, because it has native code, or
   * because its modules have other names or places in the repository.
   */
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
  /** Other programs that may start the server if this one doesn't: only if it was found, not set. */
  readonly others: readonly OtherProgram[];
  /** The program was found, but nothing in it identifies a server. */
  readonly isGuess: boolean;
  /** Nothing in the repository's Python files concerns MCP: only their dependencies may. */
  readonly lacksMcp: boolean;
  /** The package that is run by its own program; null for a repository, and with another entrypoint. */
  readonly runs: Pin | null;
  /** If it was found among several: the files of its directory that each define a server. */
  readonly servers: readonly string[];
  readonly python: PythonChoice;
  readonly dependencies: Dependencies;
  readonly project: ProjectInstall;
  /** Something is built from the repository: that needs a writable copy, and the layer then depends on the code. */
  readonly usesTree: boolean;
  readonly context: BuildContext | null;
  /** Digest of everything that the resolution reads from the repository. */
  readonly inputDigest: string;
  /** Each choice with its reason, for the build log. */
  readonly log: readonly PlanLogLine[];
};

/**
 * Decides how to build. Pure.
 * @throws BuildFailure with phase `plan`
 */
export function makePlan(facts: SourceFacts, settings: PlanSettings): Plan {
  const log = new PlanLog();
  const declared = parseProjectFile(facts);
  const chosen = chooseProgram(facts, settings, declared, log);
  const files = parseProjectFiles(facts, chosen.entryFile, declared);
  const dependencies = chooseDependencies(facts, settings, files, log);
  const requiresPython = requiredPython(files, dependencies);
  const versionFile = facts.texts.get(".python-version");
  const python = choosePython({ versionFile, requiresPython, fastmcp: files.fastmcp?.python ?? null }, log);
  const project = installOf(facts, files, chosen.program, settings, log);
  const usesTree = dependencies.usesTree || project.mode === "build";
  const context = usesTree ? facts.context : null;
  if (context !== null) log.step(describeContext(context));
  // Without a context all built packages are in the project's directory.
  const buildsOwn = context === null || project.mode === "build" || files.pyproject?.ownSources === true;
  const trees = usesTree ? [...(context ? [context.digest] : []), ...(buildsOwn ? [facts.digest] : [])] : [];
  return {
    ...chosen,
    runs: null,
    python,
    dependencies,
    project,
    usesTree,
    context: context && { root: context.root, project: context.project, isWorkspace: context.isWorkspace },
    inputDigest: inputDigest(facts, dependencies, trees),
    log: log.lines,
  };
}

/** The plan of a package, for users: they know its programs, but no project that requires it (packageSource). Pure. */
export function ofPackage(plan: Plan): Plan {
  const named = ({ program }: OtherProgram) => ({ program, entryFile: program.entrypoint.split(":")[0] ?? "" });
  const { request, from, within } = plan.python;
  const [pin = null] = plan.dependencies.pins;
  const renamed = (file: string) => (file === "pyproject.toml" ? "the package" : file);
  return {
    ...plan,
    ...named(plan),
    runs: pin !== null && normalizeName(plan.program.entrypoint) === pin.name ? pin : null,
    others: plan.others.map(named),
    python: { request, from: renamed(from), within: within && { ...within, file: renamed(within.file) } },
  };
}

/** The same plan with one more requirement. Pure. */
export function requiring(plan: Plan, requirement: string): Plan {
  const { dependencies, inputDigest: digest } = plan;
  return {
    ...plan,
    dependencies: { ...dependencies, requirements: [...dependencies.requirements, requirement] },
    inputDigest: createHash("sha256")
      .update(JSON.stringify([digest, requirement]))
      .digest("hex"),
  };
}

/**
 * `requires-python` of the file that lists the dependencies, else of the project. uv writes it into every lock and
 * rejects any other Python: a lock for fewer versions than the project allows limits them too.
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

function installOf(
  facts: SourceFacts,
  files: ProjectFiles,
  program: Program,
  settings: PlanSettings,
  log: PlanLog,
): ProjectInstall {
  const { install = "none", name = null, version = null, importRoots = [""], scripts = {} } = files.pyproject ?? {};
  const why = whyBuilt(facts, files, program, settings);
  const mode = why === null ? install : "build";
  const title = `Package ${name ?? "of this repository"}`;
  if (why !== null) log.step(`${title}: ${why}, so it is built and installed.`);
  else if (mode === "path") {
    const roots = importRoots.map((root) => (root === "" ? "the root" : root)).join(", ");
    log.step(
      `${title}: imported from ${roots}, not installed, so that a change of code alone reuses the dependencies.`,
    );
  }
  return { mode, name, version, importRoots, ...(Object.keys(scripts).length > 0 && { scripts }) };
}

/** Why the project's package is built and installed; null if it isn't. */
function whyBuilt(facts: SourceFacts, files: ProjectFiles, program: Program, settings: PlanSettings): string | null {
  const install = files.pyproject?.install ?? "none";
  if (install === "build") return "its build backend compiles code";
  if (install === "path" && settings.isInstalled === true) return "it doesn't start from the repository";
  return isRearranged(facts, files, program)
    ? "its modules are elsewhere in the repository than its console script says"
    : null;
}

/** Whether the package of the console script isn't where it would be imported from: its build backend puts it there. */
function isRearranged({ paths }: SourceFacts, { pyproject }: ProjectFiles, { entrypoint }: Program): boolean {
  if (pyproject?.install !== "path" || !Object.hasOwn(pyproject.scripts, entrypoint) || !hasCode(paths)) return false;
  const [name = ""] = pyproject.scripts[entrypoint]?.split(/[.:]/) ?? [];
  const places = pyproject.importRoots.map((root) => posix.join(root, name));
  return ![...paths].some((path) => places.some((place) => path === `${place}.py` || path.startsWith(`${place}/`)));
}

function describeContext({ root, isWorkspace }: BuildContext): string {
  const where = root === "" ? "the repository's root" : root;
  return isWorkspace
    ? `uv workspace: this project is a member of the one at ${where}, whose other members are installed as it needs them.`
    : "Dependencies lie outside the root directory, so the whole repository is there when they are installed.";
}

function inputDigest(facts: SourceFacts, dependencies: Dependencies, trees: readonly string[]): string {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([dependencies.kind, dependencies.file, dependencies.requirements]));
  for (const path of dependencies.inputs) hash.update(JSON.stringify([path, facts.texts.get(path) ?? null]));
  for (const tree of trees) hash.update(tree);
  return hash.digest("hex");
}
