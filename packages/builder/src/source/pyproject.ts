import { posix } from "node:path";
import { satisfies, validRange } from "@renovatebot/pep440";
import { parse } from "smol-toml";
import { z } from "zod";
import { localSources } from "./build-context.ts";
import { rangeOf, requirementName } from "./requirements-file.ts";

const looseTable = z.record(z.string(), z.unknown());

const pyprojectSchema = z.looseObject({
  project: z
    .looseObject({
      name: z.string().optional(),
      version: z.string().optional(),
      "requires-python": z.string().optional(),
      dependencies: z.array(z.string()).optional(),
      dynamic: z.array(z.string()).optional(),
      scripts: looseTable.optional(),
    })
    .optional(),
  "build-system": z
    .looseObject({ "build-backend": z.string().optional(), requires: z.array(z.string()).optional() })
    .optional(),
  tool: looseTable.optional(),
  "dependency-groups": looseTable.optional(),
});

export type Pyproject = {
  readonly name: string | null;
  readonly version: string | null;
  readonly requiresPython: string | null;
  /** Null if the file lists none: see `dynamicDependencies`. */
  readonly dependencies: readonly string[] | null;
  /** The build backend determines them (`dynamic`, or Poetry's own table). */
  readonly dynamicDependencies: boolean;
  /** How the project's own package becomes importable: see `ProjectInstall` in plan.ts. */
  readonly install: "none" | "path" | "build";
  /** Directories to import from, relative to the root; "" is the root itself. */
  readonly importRoots: readonly string[];
  /** Console scripts by name, as `package.module:function`. */
  readonly scripts: Readonly<Record<string, string>>;
  /** `tool.uv.sources` points into the repository (`path` or `workspace`). */
  readonly localSources: boolean;
  /** Some of these paths are inside the project's own directory. */
  readonly ownSources: boolean;
  /** The parts of the file that `uv sync --frozen` reads, as JSON. */
  readonly settings: string;
};

/** Backends whose packages are plain files, which can be imported without installation. */
const pureBackends = /^(hatchling|setuptools|flit_core|flit|poetry|poetry_core|pdm|uv_build|whey)([.:]|$)/;

type Table = Record<string, unknown>;
const tableOf = (value: unknown): Table => (typeof value === "object" && value !== null ? (value as Table) : {});
/** The table at `tool.name`; empty if there is none. */
const tableAt = (table: Table, path: string): Table =>
  path.split(".").reduce((found, name) => tableOf(found[name]), table);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isText = (value: unknown): value is string => typeof value === "string";

/** @throws Error with a readable message when it is not TOML or has the wrong shape */
export function parsePyproject(text: string): Pyproject {
  const parsed = pyprojectSchema.safeParse(parse(text));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(`${issue?.path.join(".") ?? "it"}: ${issue?.message ?? "unexpected shape"}`);
  }
  const { project, tool = {}, "build-system": buildSystem } = parsed.data;
  const poetry = tableAt(tool, "poetry");
  const uv = tableAt(tool, "uv");
  const local = localSources(uv.sources);
  const isPoetry = Object.keys(tableAt(poetry, "dependencies")).length > 0 && project?.dependencies === undefined;
  const scripts = consoleScripts(project?.scripts ?? tableAt(poetry, "scripts"));
  return {
    name: project?.name ?? (isText(poetry.name) ? poetry.name : null),
    version: project?.version ?? (isText(poetry.version) ? poetry.version : null),
    requiresPython: project?.["requires-python"] ?? null,
    dependencies: project?.dependencies ?? null,
    dynamicDependencies: isPoetry || (project?.dynamic ?? []).includes("dependencies"),
    install: installMode(buildSystem, uv.package, Object.keys(scripts).length > 0),
    importRoots: importRoots(tool),
    scripts,
    localSources: local.paths.length > 0 || local.members > 0,
    ownSources: local.paths.some((path) => !posix.normalize(path).startsWith("..")),
    settings: JSON.stringify([uv, parsed.data["dependency-groups"] ?? null, project?.name ?? null]),
  };
}

/** Valid scripts of a package's metadata. Names follow VAL-2, so that each can be an entrypoint. */
function consoleScripts(table: Table): Readonly<Record<string, string>> {
  const entries = Object.entries(table).filter((entry): entry is [string, string] => isText(entry[1]));
  return Object.fromEntries(
    entries.filter(([name, target]) => /^\w[\w.-]{0,127}$/.test(name) && /^[\w.]+:[\w.]+$/.test(target)),
  );
}

/** A project is a package if it has a build system or sets `tool.uv.package`, as for uv, or has scripts, as for pip. */
function installMode(
  buildSystem: { "build-backend"?: string | undefined } | undefined,
  uvPackage: unknown,
  hasScripts: boolean,
): Pyproject["install"] {
  if (uvPackage === false || (buildSystem === undefined && uvPackage !== true && !hasScripts)) return "none";
  return pureBackends.test(buildSystem?.["build-backend"] ?? "setuptools") ? "path" : "build";
}

/** Where the common backends look for packages, according to the file. */
function importRoots(tool: Table): string[] {
  const hatch = tableAt(tool, "hatch.build.targets.wheel");
  const directories = [
    tableAt(tool, "setuptools.package-dir")[""],
    ...listOf(tableAt(tool, "setuptools.packages.find").where),
    tableAt(tool, "uv.build-backend")["module-root"],
    ...listOf(hatch.packages)
      .filter(isText)
      .map((path) => path.split("/").slice(0, -1).join("/")),
    ...listOf(hatch.sources),
    ...listOf(tableAt(tool, "poetry").packages).map((each) => tableOf(each).from),
  ];
  const clean = directories.filter(isText).map((directory) => posix.normalize(directory).replace(/^\.$|\/$/, ""));
  const isInside = (directory: string) =>
    /^[\w./ -]*$/.test(directory) && !directory.split("/").includes("..") && !directory.startsWith("/");
  return [...new Set(["", "src", ...clean.filter(isInside)])];
}

const lockSchema = z.looseObject({
  "requires-python": z.string().optional(),
  manifest: z.looseObject({ overrides: z.array(z.unknown()).optional() }).optional(),
  package: z
    .array(
      z.looseObject({
        name: z.string(),
        version: z.string().optional(),
        source: z.record(z.string(), z.unknown()).optional(),
        metadata: z
          .looseObject({ "requires-dist": z.array(z.looseObject({ name: z.string() })).optional() })
          .optional(),
      }),
    )
    .optional(),
});

export type LockFacts = {
  readonly requiresPython: string | null;
  readonly packages: ReadonlySet<string>;
  /** Of its packages from an index, as `name==version`; except those that it has in several versions. */
  readonly versions: readonly string[];
  /** Names of the direct dependencies that were locked; null if the lock doesn't contain the project itself. */
  readonly lockedDependencies: ReadonlySet<string> | null;
  /** Its versions may contradict the requirements, because of `tool.uv.override-dependencies`. */
  readonly hasOverrides: boolean;
  /** It contains workspace members or path dependencies, which are installed from the repository. */
  readonly localSources: boolean;
};

/**
 * `project`: its directory, relative to the lock's.
 * @throws Error with a readable message when it is not a uv.lock
 */
export function parseLock(text: string, project = "."): LockFacts {
  const parsed = lockSchema.safeParse(parse(text));
  if (!parsed.success) throw new Error("it is not a uv lock file");
  const packages = parsed.data.package ?? [];
  const isRoot = (source: Record<string, unknown> | undefined) =>
    source !== undefined && [source.virtual, source.editable, source.directory].includes(project);
  const root = packages.find((entry) => isRoot(entry.source));
  return {
    requiresPython: parsed.data["requires-python"] ?? null,
    packages: new Set(packages.map((entry) => entry.name)),
    versions: packages.flatMap(({ name, version, source }) =>
      version !== undefined &&
      source?.registry !== undefined &&
      packages.filter((each) => each.name === name).length === 1
        ? [`${name}==${version}`]
        : [],
    ),
    lockedDependencies:
      root === undefined ? null : new Set((root.metadata?.["requires-dist"] ?? []).map((entry) => entry.name)),
    hasOverrides: parsed.data.manifest?.overrides !== undefined,
    localSources: packages.some(
      ({ source = {} }) =>
        !isRoot(source) && ["virtual", "editable", "directory", "path"].some((kind) => kind in source),
    ),
  };
}

/** Direct dependencies missing from the lock because it is older than the project file. */
export function unlockedDependencies(pyproject: Pyproject, lock: LockFacts): string[] {
  if (lock.lockedDependencies === null) return [];
  const locked = lock.lockedDependencies;
  return (pyproject.dependencies ?? [])
    .map(requirementName)
    .filter((name): name is string => name !== null && !locked.has(name));
}

/** Direct dependencies whose locked versions are no longer allowed, because the lock is older than the project file. */
export function contradictedVersions(pyproject: Pyproject, lock: LockFacts): string[] {
  if (lock.lockedDependencies === null || lock.hasOverrides) return [];
  const locked = new Map(lock.versions.map((each) => each.split("==") as [name: string, version: string]));
  return (pyproject.dependencies ?? []).flatMap((requirement) => {
    const name = requirementName(requirement);
    const [version, range] = [locked.get(name ?? ""), rangeOf(requirement)];
    const isContradicted =
      version !== undefined && range !== null && validRange(range) && !satisfies(version, range, { prereleases: true });
    return isContradicted ? [`${name} ${version} (now ${range})`] : [];
  });
}
