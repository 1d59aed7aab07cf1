import { posix } from "node:path";
import type { BuildWarning } from "@towpath/core/delivery/build/contract";
import { type BuildFailure, changeSettings, countOf, failed, quoted } from "../failure.ts";
import type { PlanSettings, SourceFacts } from "../source/facts.ts";
import type { ProjectFiles } from "../source/project-files.ts";
import { contradictedVersions, type LockFacts, type Pyproject, unlockedDependencies } from "../source/pyproject.ts";
import {
  includedFiles,
  installsFromTree,
  normalizeName,
  type Pin,
  pinsIn,
  requirementLines,
  requirementName,
  requirementsCandidates,
} from "../source/requirements-file.ts";
import type { PlanLog } from "./plan-log.ts";

/** The source of the dependencies (BLD-3). */
export type Dependencies = {
  readonly kind: "uv-lock" | "pyproject" | "requirements" | "script" | "fastmcp-json" | "none";
  /** The file to edit to add a dependency; null if there is none yet. */
  readonly file: string | null;
  /** Requirements to resolve that are not in a requirements file. */
  readonly requirements: readonly string[];
  /** Files that the resolution reads. */
  readonly inputs: readonly string[];
  /** Something is built or installed from the repository itself. */
  readonly usesTree: boolean;
  /** The lock lacks uvicorn, which the harness needs. */
  readonly addsUvicorn: boolean;
  /** Why uv.lock only provides preferred versions: the end of a sentence. Null for other cases. */
  readonly renewsLock: string | null;
  /** Versions to resolve to where the requirements allow them, as `name==version`. */
  readonly preferred: readonly string[];
  /** Requirements of a single version. */
  readonly pins: readonly Pin[];
};

const base = {
  requirements: [],
  inputs: [],
  usesTree: false,
  addsUvicorn: true,
  renewsLock: null,
  preferred: [],
  pins: [],
} as const;

type Input = {
  readonly facts: SourceFacts;
  readonly settings: PlanSettings;
  readonly files: ProjectFiles;
  /** The requirements file that was found. */
  readonly found: string | null;
  readonly log: PlanLog;
};

/** In the order of BLD-3. Each logs why it is chosen; null if the source doesn't have it. */
const sources: readonly ((input: Input) => Dependencies | null)[] = [
  fromLock,
  fromPyproject,
  fromRequirements,
  fromSetup,
  fromScript,
  fromFastmcpJson,
];

/** Picks the first source in the order of BLD-3 and logs the reason. @throws BuildFailure `requirements_not_found` */
export function chooseDependencies(
  facts: SourceFacts,
  settings: PlanSettings,
  files: ProjectFiles,
  log: PlanLog,
): Dependencies {
  const { requirements } = settings;
  if (requirements !== null && !facts.paths.has(posix.normalize(requirements))) throw notFound(requirements, facts);
  const candidates = requirementsCandidates(settings, files.scriptFile, facts.texts);
  const found = candidates.find((path) => facts.paths.has(path)) ?? null;
  const input = { facts, settings, files, found, log };
  for (const from of sources) {
    const chosen = from(input);
    if (chosen === null) continue;
    if (requirements !== null && chosen.kind !== "requirements")
      log.warn(`The settings name ${requirements}, but ${chosen.file} takes precedence. Remove one of them.`);
    return chosen;
  }
  log.step(
    "Dependencies: none are listed (no uv.lock, pyproject.toml, requirements.txt or script block), so fastmcp alone is installed.",
  );
  return { ...base, kind: "none", file: null, requirements: ["fastmcp"] };
}

function notFound(file: string, { paths }: SourceFacts): BuildFailure {
  const others = [...paths].filter((path) => /(^|\/)(requirements[^/]*\.(txt|in)|pyproject\.toml)$/.test(path));
  return failed("plan", "requirements_not_found", changeSettings("build"), {
    title: `The requirements file ${file} doesn't exist`,
    detail: "It is set under Settings → Build, but the commit doesn't have it.",
    remedy:
      others.length > 0
        ? `Set the requirements file under Settings → Build to ${quoted(others.slice(0, 3), " or ")}, or leave it empty.`
        : "Add the file to the repository, or leave the requirements file empty under Settings → Build.",
    file,
  });
}

function fromLock({ facts, files: { lock, pyproject }, log }: Input): Dependencies | null {
  if (lock === null) return null;
  if (pyproject === null) {
    log.warn("uv.lock is ignored, because there is no pyproject.toml beside it.");
    return null;
  }
  if (followedOnly(lock, pyproject) !== null) return null;
  const count = countOf(lock.packages.size, "package");
  log.step(`Dependencies: uv.lock, ${count} at their locked versions (uv sync --frozen).`);
  if (facts.texts.has("requirements.txt")) log.step("requirements.txt is not read: uv.lock takes precedence.");
  return {
    ...base,
    kind: "uv-lock",
    file: "pyproject.toml",
    inputs: ["uv.lock"],
    requirements: [pyproject.settings],
    usesTree: lock.localSources || facts.context !== null,
    addsUvicorn: !lock.packages.has("uvicorn"),
  };
}

export const lockRenewed = (why: string): BuildWarning => ({
  code: "lock_renewed",
  title: "uv.lock was renewed for this build",
  detail: `It ${why}. Its versions stay where the requirements allow them; the rest is resolved in each build.`,
  remedy: "Run `uv lock`, commit uv.lock and push: then each build gets the same versions.",
});

/**
 * Why `uv run` would renew a lock and keep its versions, while `uv sync --frozen` refuses it or installs something else
 * than the project requires: it belongs to a project with another name, as in a renamed fork, or is older than the
 * project. Null if it fits.
 */
function followedOnly(lock: LockFacts, pyproject: Pyproject): string | null {
  const { name } = pyproject;
  if (name !== null && !lock.packages.has(normalizeName(name)))
    return `is that of a project with another name: it doesn't include ${name}`;
  const unlocked = unlockedDependencies(pyproject, lock);
  if (unlocked.length > 0) return `is older than pyproject.toml: it doesn't include ${unlocked.join(", ")}`;
  const contradicted = contradictedVersions(pyproject, lock);
  return contradicted.length === 0 ? null : `is older than pyproject.toml: it has ${contradicted.join(", ")}`;
}

function fromPyproject({ files: { pyproject, lock }, found, log }: Input): Dependencies | null {
  if (pyproject === null) return null;
  const listed = pyproject.dependencies?.length ?? 0;
  if (listed === 0 && !pyproject.dynamicDependencies) {
    log.step(`pyproject.toml lists no dependencies${found === null ? "" : `, so ${found} is read`}.`);
    return null;
  }
  const count = pyproject.dynamicDependencies ? "as its build backend reports them" : `${listed} listed there`;
  const why = lock === null ? null : followedOnly(lock, pyproject);
  const versions =
    why === null
      ? "There is no uv.lock, so their versions are resolved now."
      : `uv.lock ${why}, so it is renewed for this build, as \`uv run\` does: its versions stay where the requirements allow them.`;
  log.step(`Dependencies: pyproject.toml (${count}). ${versions}`);
  if (found !== null) log.step(`${found} is not read: pyproject.toml takes precedence.`);
  return {
    ...base,
    kind: "pyproject",
    file: "pyproject.toml",
    inputs: ["pyproject.toml", ...(why === null ? [] : ["uv.lock"])],
    usesTree: pyproject.dynamicDependencies || pyproject.localSources,
    preferred: why === null ? [] : (lock?.versions ?? []),
    renewsLock: why,
    pins: pinsIn(pyproject.dependencies ?? []),
  };
}

function fromRequirements({ facts: { texts }, settings, found, log }: Input): Dependencies | null {
  if (found === null) return null;
  const reason = settings.requirements === null ? "found in the repository" : "set under Settings → Build";
  log.step(`Dependencies: ${found} (${reason}; no uv.lock, and no pyproject.toml with dependencies).`);
  // Iterating a Set also visits later additions, and each file once, even if it is included several times.
  const inputs = new Set([found]);
  for (const path of inputs) {
    for (const included of includedFiles(texts.get(path) ?? "", path)) {
      if (texts.has(included)) inputs.add(included);
    }
  }
  const read = [...inputs].map((path) => texts.get(path) ?? "");
  const pins = pinsIn(read.flatMap(requirementLines));
  return {
    ...base,
    kind: "requirements",
    file: found,
    inputs: [...inputs],
    usesTree: read.some(installsFromTree),
    pins,
  };
}

/** Setuptools' own files, which uv reads by running it. */
function fromSetup({ facts, log }: Input): Dependencies | null {
  const file = ["setup.py", "setup.cfg"].find((name) => /\binstall_requires\b/.test(facts.texts.get(name) ?? ""));
  if (file === undefined) return null;
  log.step(`Dependencies: ${file} (install_requires). Their versions are resolved now.`);
  return { ...base, kind: "requirements", file, inputs: ["setup.py", "setup.cfg"], usesTree: true };
}

function fromScript({ files: { script, scriptFile }, log }: Input): Dependencies | null {
  const listed = script?.dependencies ?? null;
  if (listed === null) return null;
  log.step(`Dependencies: the script block of ${scriptFile} (PEP 723), ${listed.length} listed.`);
  return { ...base, kind: "script", file: scriptFile, requirements: listed, pins: pinsIn(listed) };
}

function fromFastmcpJson({ files: { fastmcp }, log }: Input): Dependencies | null {
  const listed = fastmcp?.dependencies ?? null;
  if (listed === null) return null;
  log.step(`Dependencies: environment.dependencies of fastmcp.json, ${listed.length} listed, with fastmcp.`);
  const hasFastmcp = listed.some((text) => requirementName(text) === "fastmcp");
  const requirements = hasFastmcp ? listed : ["fastmcp", ...listed];
  return { ...base, kind: "fastmcp-json", file: "fastmcp.json", requirements };
}
