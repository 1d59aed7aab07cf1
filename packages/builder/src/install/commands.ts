import { buildImage } from "@towpath/runtime";
import type { Plan } from "../plan/index.ts";

/** Files that pass between the steps, in the work folder. */
export const requirementsFile = "requirements.in";
export const exactFile = "exact.txt";

type Command = readonly [string, ...string[]];

/** All commands are argv arrays; what comes from a repository stands behind an absolute path or in a file. Pure. */
export const createEnvironment = (interpreter: string): Command => [
  buildImage.uv,
  "venv",
  "--no-project",
  "--allow-existing",
  "--python",
  interpreter,
  buildImage.dependencies,
];

/** Resolves to an exact list; null for a lock, which is one. */
export function resolveCommand(plan: Plan, interpreter: string): Command | null {
  const { kind, file } = plan.dependencies;
  if (kind === "uv-lock") return null;
  const fromFile = kind === "pyproject" || kind === "requirements" ? [`${buildImage.code}/${file}`] : [];
  return [
    buildImage.uv,
    "pip",
    "compile",
    "--quiet",
    "--no-header",
    "--no-annotate",
    // What the files say of indexes must hold for the installation too.
    "--emit-index-url",
    "--emit-find-links",
    "--emit-build-options",
    "--python",
    interpreter,
    "--output-file",
    `${buildImage.work}/${exactFile}`,
    "--",
    ...fromFile,
    `${buildImage.work}/${requirementsFile}`,
  ];
}

/** What is resolved beside the repository's own file. The harness needs uvicorn, which `mcp` brings along in most cases. */
export function extraRequirements(plan: Plan): string {
  const { kind, requirements } = plan.dependencies;
  const own = kind === "uv-lock" ? [] : requirements;
  return `${[...own, "uvicorn"].join("\n")}\n`;
}

/** The commands that fill the virtual environment, in order. */
export function installCommands(plan: Plan, interpreter: string): readonly Command[] {
  const { kind, addsUvicorn } = plan.dependencies;
  const builds = plan.project.mode === "build";
  const into = ["--python", `${buildImage.dependencies}/bin/python`];
  if (kind !== "uv-lock") {
    const project: Command[] = builds
      ? [[buildImage.uv, "pip", "install", ...into, "--no-deps", "--", buildImage.code]]
      : [];
    return [
      [buildImage.uv, "pip", "sync", ...into, "--allow-empty-requirements", "--", `${buildImage.work}/${exactFile}`],
      ...project,
    ];
  }
  const sync: Command = [
    buildImage.uv,
    "sync",
    "--frozen",
    "--no-dev",
    "--no-editable",
    "--python",
    interpreter,
    ...(builds ? [] : ["--no-install-project"]),
  ];
  return addsUvicorn ? [sync, [buildImage.uv, "pip", "install", ...into, "--", "uvicorn"]] : [sync];
}

const layerScript = (interpreter: string, ...more: string[]): Command => [
  interpreter,
  "-I",
  buildImage.layerScript,
  ...more,
];

/** Copies the source to where tools may write to it. */
export const copySource = (interpreter: string): Command =>
  layerScript(interpreter, "copy", buildImage.source, buildImage.code);

/** Makes the code layer in the work folder, for a mount at the usual place. */
export const makeCode = (interpreter: string): Command =>
  layerScript(interpreter, "code", buildImage.source, buildImage.work, buildImage.code);

/** Makes the project importable and seals the dependency layer. */
export function finishDependencies(plan: Plan, interpreter: string): Command {
  const { mode, name, version, importRoots } = plan.project;
  const roots =
    mode === "path" ? importRoots.map((root) => (root === "" ? buildImage.code : `${buildImage.code}/${root}`)) : [];
  const project = { roots, name: mode === "path" ? safeName(name) : null, version: safeVersion(version) };
  return layerScript(interpreter, "dependencies", buildImage.dependencies, JSON.stringify(project));
}

const safeName = (name: string | null) =>
  name !== null && /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/.test(name) ? name : null;

/** A version becomes part of a folder's name; one that the build backend would make up is 0.0.0. */
const safeVersion = (version: string | null) =>
  version !== null && /^[0-9][0-9A-Za-z.+!-]{0,80}$/.test(version) ? version : "0.0.0";
