import { posix } from "node:path";
import type { BuildWarning } from "@towpath/core/build/contract";
import { BuildFailure, changeSettings, countOf, diagnosis } from "../failure.ts";
import { type PlanSettings, requirementsCandidates, type SourceFacts } from "./facts.ts";
import type { PlanNote } from "./plan.ts";
import type { ProjectFiles } from "./project-files.ts";
import { contradictedVersions, type LockFacts, type Pyproject, unlockedDependencies } from "./pyproject.ts";
import {
  includedFiles,
  installsFromTree,
  normalizeName,
  type Pin,
  pinsIn,
  requirementLines,
  requirementName,
} from "./requirements-file.ts";

/** Where the dependencies come from (BLD-3). */
export type Dependencies = {
  readonly kind: "uv-lock" | "pyproject" | "requirements" | "script" | "fastmcp-json" | "none";
  /** The file to edit to add a dependency; null when there is none yet. */
  readonly file: string | null;
  /** Requirements to resolve that are not in a requirements file. */
  readonly requirements: readonly string[];
  /** Files that the resolution reads. */
  readonly inputs: readonly string[];
  /** Something is built or installed from the repository itself. */
  readonly usesTree: boolean;
  /** The lock lacks uvicorn, which the harness needs. */
  readonly addsUvicorn: boolean;
  /** Why uv.lock is only followed where the requirements allow its versions: the end of a sentence. Null for other cases. */
  readonly renewsLock: string | null;
  /** Versions to resolve to where the requirements allow them, as `name==version`. */
  readonly preferred: readonly string[];
  /** What the repository requires in one version only. */
  readonly pins: readonly Pin[];
};

type Note = (note: PlanNote) => void;

const base = {
  requirements: [],
  inputs: [],
  usesTree: false,
  addsUvicorn: true,
  renewsLock: null,
  preferred: [],
  pins: [],
} as const;

/** Picks the first source in the order of BLD-3 and notes the reason. @throws BuildFailure `requirements_not_found` */
export function chooseDependencies(
  facts: SourceFacts,
  settings: PlanSettings,
  files: ProjectFiles,
  note: Note,
): Dependencies {
  checkConfigured(facts, settings);
  const requirements =
    requirementsCandidates(settings, files.scriptFile, facts.texts).find((path) => facts.paths.has(path)) ?? null;
  const chosen =
    fromLock(facts, files, note) ??
    fromPyproject(files, requirements, note) ??
    fromRequirements(facts, settings, requirements, note) ??
    fromSetup(facts, note) ??
    fromScript(files, note) ??
    fromFastmcpJson(files, note) ??
    fromNothing(note);
  if (settings.requirements !== null && chosen.kind !== "requirements") {
    note({
      kind: "warning",
      text: `The settings name ${settings.requirements}, but ${chosen.file} takes precedence. Remove one of them.`,
    });
  }
  return chosen;
}

function checkConfigured(facts: SourceFacts, settings: PlanSettings): void {
  if (settings.requirements === null || facts.paths.has(posix.normalize(settings.requirements))) return;
  const others = [...facts.paths].filter((path) => /(^|\/)(requirements[^/]*\.(txt|in)|pyproject\.toml)$/.test(path));
  throw new BuildFailure(
    diagnosis(
      {
        code: "requirements_not_found",
        phase: "plan",
        title: `The requirements file ${settings.requirements} doesn't exist`,
        detail: "It is set under Settings → Build, but the commit doesn't have it.",
        remedy:
          others.length > 0
            ? `Set the requirements file under Settings → Build to ${others
                .slice(0, 3)
                .map((path) => `\`${path}\``)
                .join(" or ")}, or leave it empty.`
            : "Add the file to the repository, or leave the requirements file empty under Settings → Build.",
        action: changeSettings("build"),
      },
      { file: settings.requirements },
    ),
  );
}

function fromLock(facts: SourceFacts, { lock, pyproject }: ProjectFiles, note: Note): Dependencies | null {
  if (lock === null) return null;
  if (pyproject === null) {
    note({ kind: "warning", text: "uv.lock is ignored, because there is no pyproject.toml beside it." });
    return null;
  }
  if (followedOnly(lock, pyproject) !== null) return null;
  note({
    kind: "step",
    text: `Dependencies: uv.lock, ${countOf(lock.packages.size, "package")} at their locked versions (uv sync --frozen).`,
  });
  if (facts.texts.has("requirements.txt"))
    note({ kind: "step", text: "requirements.txt is not read: uv.lock takes precedence." });
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
 * Why `uv run` would renew a lock and keep its versions, while `uv sync --frozen` refuses it, or installs other things than
 * the project asks for: it is that of a project with another name, as in a fork that was renamed, or older than the
 * project. Null for one that fits.
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

function fromPyproject(
  { pyproject, lock }: ProjectFiles,
  requirements: string | null,
  note: Note,
): Dependencies | null {
  if (pyproject === null) return null;
  const listed = pyproject.dependencies?.length ?? 0;
  if (listed === 0 && !pyproject.dynamicDependencies) {
    note({
      kind: "step",
      text: `pyproject.toml lists no dependencies${requirements === null ? "" : `, so ${requirements} is read`}.`,
    });
    return null;
  }
  const count = pyproject.dynamicDependencies ? "as its build backend reports them" : `${listed} listed there`;
  const why = lock === null ? null : followedOnly(lock, pyproject);
  note(
    why === null
      ? {
          kind: "step",
          text: `Dependencies: pyproject.toml (${count}). There is no uv.lock, so their versions are resolved now.`,
        }
      : {
          kind: "step",
          text: `Dependencies: pyproject.toml (${count}). uv.lock ${why}, so it is renewed for this build, as \`uv run\` does: its versions stay where the requirements allow them.`,
        },
  );
  if (requirements !== null)
    note({ kind: "step", text: `${requirements} is not read: pyproject.toml takes precedence.` });
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

function fromRequirements(
  facts: SourceFacts,
  settings: PlanSettings,
  file: string | null,
  note: Note,
): Dependencies | null {
  if (file === null) return null;
  const reason = settings.requirements === null ? "found in the repository" : "set under Settings → Build";
  note({
    kind: "step",
    text: `Dependencies: ${file} (${reason}; no uv.lock, and no pyproject.toml with dependencies).`,
  });
  // Iterating a Set also visits what is added meanwhile, and each file once, however often it is included.
  const inputs = new Set([file]);
  for (const path of inputs) {
    for (const included of includedFiles(facts.texts.get(path) ?? "", path)) {
      if (facts.texts.has(included)) inputs.add(included);
    }
  }
  const usesTree = [...inputs].some((path) => installsFromTree(facts.texts.get(path) ?? ""));
  const pins = pinsIn([...inputs].flatMap((path) => requirementLines(facts.texts.get(path) ?? "")));
  return { ...base, kind: "requirements", file, inputs: [...inputs], usesTree, pins };
}

/** Setuptools' own files, which uv reads by running it. */
function fromSetup(facts: SourceFacts, note: Note): Dependencies | null {
  const file = ["setup.py", "setup.cfg"].find((name) => /\binstall_requires\b/.test(facts.texts.get(name) ?? ""));
  if (file === undefined) return null;
  note({ kind: "step", text: `Dependencies: ${file} (install_requires). Their versions are resolved now.` });
  return { ...base, kind: "requirements", file, inputs: ["setup.py", "setup.cfg"], usesTree: true };
}

function fromScript({ script, scriptFile }: ProjectFiles, note: Note): Dependencies | null {
  if (script === null || script.dependencies === null) return null;
  note({
    kind: "step",
    text: `Dependencies: the script block of ${scriptFile} (PEP 723), ${script.dependencies.length} listed.`,
  });
  return {
    ...base,
    kind: "script",
    file: scriptFile,
    requirements: script.dependencies,
    pins: pinsIn(script.dependencies),
  };
}

function fromFastmcpJson({ fastmcp }: ProjectFiles, note: Note): Dependencies | null {
  const listed = fastmcp?.dependencies ?? null;
  if (listed === null) return null;
  note({
    kind: "step",
    text: `Dependencies: environment.dependencies of fastmcp.json, ${listed.length} listed, with fastmcp.`,
  });
  const withFastmcp = listed.some((text) => requirementName(text) === "fastmcp") ? listed : ["fastmcp", ...listed];
  return { ...base, kind: "fastmcp-json", file: "fastmcp.json", requirements: withFastmcp };
}

function fromNothing(note: Note): Dependencies {
  note({
    kind: "step",
    text: "Dependencies: none are listed (no uv.lock, pyproject.toml, requirements.txt or script block), so fastmcp alone is installed.",
  });
  return { ...base, kind: "none", file: null, requirements: ["fastmcp"] };
}
