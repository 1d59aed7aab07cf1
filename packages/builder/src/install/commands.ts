import { createHash } from "node:crypto";
import { buildImage } from "@towpath/runtime";
import type { Plan } from "../plan/plan.ts";
import type { Pin } from "../source/requirements-file.ts";

/** Files in the work directory that one step writes and another reads. */
export const requirementsFile = "requirements.in";
export const exactFile = "exact.txt";

type Command = readonly [string, ...string[]];

/** The project's path in the copy of the source. */
const projectPath = ({ context }: Plan) =>
  context === null ? buildImage.code : `${buildImage.code}/${context.project}`;

/** uv in the project's directory: a resolution keeps relative paths. */
const uv = (plan: Plan): Command =>
  plan.context === null ? [buildImage.uv] : [buildImage.uv, "--directory", projectPath(plan)];

// All pure. Commands are argv arrays; names from a repository are part of an absolute path or inside a file.

export const createEnvironment = (interpreter: string): Command => [
  buildImage.uv,
  "venv",
  "--no-project",
  "--allow-existing",
  "--python",
  interpreter,
  buildImage.dependencies,
];

/** Resolves exact versions; null for a lock, which has them. */
export function resolveCommand(plan: Plan, interpreter: string, asOf: Date | null): Command | null {
  const { kind, file } = plan.dependencies;
  if (kind === "uv-lock") return null;
  const fromFile = kind === "pyproject" || kind === "requirements" ? [`${projectPath(plan)}/${file}`] : [];
  return [
    ...uv(plan),
    "pip",
    "compile",
    "--quiet",
    "--no-header",
    // The installation must use the same indexes as the resolution.
    "--emit-index-url",
    "--emit-find-links",
    "--emit-build-options",
    ...(asOf === null ? [] : uploadedBefore(asOf)),
    "--python",
    interpreter,
    "--output-file",
    `${buildImage.work}/${exactFile}`,
    "--",
    ...fromFile,
    `${buildImage.work}/${requirementsFile}`,
  ];
}

/** Only what the index had then, except for the harness's own packages, which are current. */
const uploadedBefore = (time: Date) => [
  "--exclude-newer",
  time.toISOString(),
  "--exclude-newer-package",
  `uvicorn=${new Date().toISOString()}`,
];

/** Requirements to resolve together with the repository's own file, including uvicorn, which the harness needs. */
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
      ? [[...uv(plan), "pip", "install", ...into, "--no-deps", "--", projectPath(plan)]]
      : [];
    return [
      [...uv(plan), "pip", "sync", ...into, "--allow-empty-requirements", "--", `${buildImage.work}/${exactFile}`],
      ...project,
    ];
  }
  const sync: Command = [
    ...uv(plan),
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

/** Installs nothing but this version of a package. */
export const installAlone = (plan: Plan, { name, version }: Pin): Command => [
  ...uv(plan),
  "pip",
  "install",
  "--python",
  `${buildImage.dependencies}/bin/python`,
  "--no-deps",
  "--",
  `${name}==${version}`,
];

/** Reports what an installed package offers. */
export const lookAt = (interpreter: string, { name }: Pin): Command =>
  layerScript(interpreter, "offers", buildImage.dependencies, name);

/** Copies the source to a writable directory. */
export const copySource = (interpreter: string): Command =>
  layerScript(interpreter, "copy", buildImage.source, buildImage.code);

/** Creates the code layer in the work directory, with bytecode for the path at which it will be mounted. */
export const makeCode = (interpreter: string): Command =>
  layerScript(interpreter, "code", buildImage.source, buildImage.work, buildImage.code);

/** Compiles the dependencies, makes the project importable and seals the dependency layer. */
export function finishDependencies(plan: Plan, interpreter: string): Command {
  const { mode, name, version, importRoots, scripts } = plan.project;
  const roots =
    mode === "path" ? importRoots.map((root) => (root === "" ? buildImage.code : `${buildImage.code}/${root}`)) : [];
  const project = {
    roots,
    name: mode === "path" ? safeName(name) : null,
    version: safeVersion(version),
    ...(scripts !== undefined && { scripts }),
  };
  return layerScript(interpreter, "dependencies", buildImage.dependencies, JSON.stringify(project), buildImage.cache);
}

const safeName = (name: string | null) =>
  name !== null && /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/.test(name) ? name : null;

/** Part of a directory's name, so it must be safe as one; 0.0.0 if it is dynamic. */
const safeVersion = (version: string | null) =>
  version !== null && /^[0-9][0-9A-Za-z.+!-]{0,80}$/.test(version) ? version : "0.0.0";

/** Increase it when layers are made differently, so that old ones are not reused. */
const format = 3;

export type KeyParts = {
  readonly organizationId: string;
  /** `BuildWorkspace.image`: Python, tools and indexes. */
  readonly image: string;
};

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex");

// The organization is part of the key: otherwise a tenant could poison a layer that another one reuses.
const scopeOf = ({ organizationId, image }: KeyParts) => [format, organizationId, image];

/** Key of a resolution: its inputs, organization, Python and indexes, and the date before which packages count. */
export const resolutionKey = (plan: Plan, parts: KeyParts, asOf: Date | null): string =>
  digest([scopeOf(parts), plan.inputDigest, ...(asOf === null ? [] : [asOf.toISOString()])]);

/**
 * Key of a dependency layer: the exact versions (or the lock), the build image and the project's additions. Depends on
 * the code only if something is built from it.
 */
export const dependencyKey = (plan: Plan, exact: string, parts: KeyParts): string =>
  digest([scopeOf(parts), plan.dependencies.kind, exact, plan.project, plan.usesTree ? plan.inputDigest : null]);

/**
 * Key of a code layer: its files, and the Python that compiled them. It includes the organization, since a build
 * reports whether it found a layer: nobody may learn whether others have these files.
 */
export const codeKey = (treeDigest: string, pythonVersion: string, organizationId: string): string =>
  digest([format, organizationId, treeDigest, pythonVersion]);
