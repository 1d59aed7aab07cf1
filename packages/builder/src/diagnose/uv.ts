import type { Diagnosis } from "@towpath/core/delivery/build/contract";
import { changeCode, changeCodeBy, diagnosis, rebuild } from "../failure.ts";
import type { StepContext } from "../install/run-step.ts";
import { isPartOfPython, requiresModule } from "./standard-library.ts";
import { buildRule } from "./uv-builds.ts";
import { gitRule } from "./uv-git.ts";
import { pathRules } from "./uv-paths.ts";
import { byDropping, byPython, byRequiring, type Explanation, place, type Rule, requiring } from "./uv-rule.ts";

/** The first match counts, so the most specific ones come first. Messages are those of uv 0.5 to 0.13. */
const rules: readonly Rule[] = [
  {
    pattern: /lockfile at `(?:[^`\n]{0,500}\/)?uv\.lock` (needs to be updated|uses an unsupported[^.\n]{0,200})/,
    explain: (match) => lockOutdated(`The lock ${match[1]}.`),
  },
  {
    pattern: /Failed to parse `(?:[^`\n]{0,500}\/)?uv\.lock`/,
    explain: () => lockOutdated("uv can't read it. Check it for an unresolved merge conflict."),
  },
  {
    pattern: /not compatible with the locked Python requirement: ?`?([<>=!~,.* \d]{1,100})?`?/,
    explain: (match, context) => lockedForOther(match[1]?.trim() ?? "", context),
  },
  {
    pattern:
      /not compatible with the (?:project's Python requirement|.{0,100}?requires-python.{0,100}?):? ?`?([<>=!~,.* \d]{1,100})?`?/,
    explain: (match, context) => pythonMismatch(match[1]?.trim() ?? null, context),
  },
  {
    pattern: /Because ([\w.-]{1,200}(?:\[[^\]\n]{0,200}\])?) was not found in the package registry/,
    explain: ([, name = ""], context) =>
      isPartOfPython(name) ? requiresModule(name, null, context) : notFound(name, context),
  },
  {
    pattern:
      /Because there (?:is|are) no versions? of ([\w.-]{1,200}(?:\[[^\]\n]{0,200}\])?(?:[=<>!~]=?[^\s,]{1,200})?)/,
    explain: (match, context) => noVersion(match[1] ?? "", context),
  },
  {
    pattern:
      /Because only ([\w.-]{1,200})([<>=!~]\S{0,200}) (?:is|are) available and (?:.{0,1000}? and )?(?:(\S{1,200}) depends on|.{0,1000}?require) (\1[<>=!~][^\s,]{0,200})/,
    explain: (match, context) =>
      noVersion(match[4] ?? "", context, `Only ${match[1]}${match[2]} is available.`, match[3] ?? null),
  },
  {
    pattern: /(?<![\w.-])([\w.-]{1,100}==[\w.+!-]{1,100}) has no wheels with a matching platform tag/,
    explain: (match, context) => ({
      code: "dependency_conflict",
      title: `${match[1]} does not run on this platform`,
      detail: `There is no build of ${match[1]} for Linux on this processor, and no source to build it from. The usual cause is a package list frozen on another system.`,
      remedy: `Remove it from ${place(context)}, or limit it to its system with a marker (\`; sys_platform == "win32"\`).`,
      action: byDropping(nameIn(match[1] ?? ""), context),
    }),
  },
  {
    pattern:
      /(?<![\w.-])([\w.-]{1,100}==[\w.+!-]{1,100}) has no wheels with a matching Python (?:ABI tag|version|implementation)/,
    explain: (match, context) => ({
      code: "dependency_conflict",
      title: `${match[1]} does not support Python ${context.pythonVersion}`,
      detail: `There is no build of ${match[1]} for Python ${context.pythonVersion}, and no source to build it from.`,
      remedy: `Choose another version of it in ${place(context)}, or another Python version in \`.python-version\` or \`requires-python\`.`,
    }),
  },
  {
    pattern:
      /requires? Python\s?([<>=!~][^\s,]{0,50}(?:,[<>=!~][^\s,]{0,50}){0,9})|(?:requested|current) Python version \([^)\n]{0,100}\) does not satisfy Python([<>=!~][^\s,]{0,50}(?:,[<>=!~][^\s,]{0,50}){0,9})(?: and (\S{1,200}) depends on Python)?/,
    explain: (match, context) => pythonMismatch(match[1] ?? match[2] ?? null, context, match[3]),
  },
  {
    pattern: /No solution found when resolving|requirements are unsatisfiable/,
    explain: (_match, context) => ({
      code: "dependency_conflict",
      title: "The dependencies conflict with each other",
      detail: `No set of versions satisfies ${place(context)}; the lines below say which requirements conflict.`,
      remedy: `Loosen or drop one of the conflicting versions in ${place(context)} (\`uv lock\` or \`uv pip compile\` shows the same error on your machine).`,
    }),
  },
  gitRule,
  ...pathRules,
  buildRule,
  {
    pattern:
      /Couldn't parse requirement in `(?:[^`\n]{0,500}\/)?([^`/\n]{1,255})`|Failed to parse(?: metadata)?:? `?(?:[^`\s]{0,500}\/)?([\w.-]{1,255})`?|(?:invalid|Invalid) (?:`pyproject\.toml`|requirement)/,
    explain: (match, context) => invalidFile(match[1] ?? match[2] ?? context.file ?? "the requirements"),
  },
  {
    pattern: /Error parsing included file in `(?:[^`\n]{0,500}\/)?([^`/\n]{1,255})`|File not found|does not exist/,
    explain: (match, context) => ({
      code: "requirements_not_found",
      title: "A file the dependencies refer to doesn't exist",
      detail: `${match[1] ?? context.file ?? "The requirements"} refers to a file or directory that is not in the commit.`,
      remedy: `Add the file to the repository, or remove the reference from ${place(context)}.`,
      file: match[1] ?? context.file,
    }),
  },
  {
    pattern:
      /Failed to download `([\w.-]{1,100}==[\w.+!-]{1,100})`.{0,1000}?HTTP status client error \((40[1349]|410|451)\D/s,
    explain: (match, context) => refused(match[1] ?? "", match[2] ?? "", context),
  },
  {
    pattern: /HTTP status (?:client|server) error \((\d{3})\D|status code (\d{3})/,
    explain: (match) => unreachable(`It answered with HTTP ${match[1] ?? match[2]}.`),
  },
  {
    pattern:
      /Failed to fetch|error sending request|Request failed after|Could not connect|dns error|operation timed out|error trying to connect|Failed to download|network connectivity is disabled/i,
    explain: () => unreachable("The connection failed or took too long."),
  },
  {
    pattern: /No space left on device|File too large|os error 2[78]\b/,
    explain: () => ({
      code: "dependency_build_failed",
      title: "The dependencies are too large",
      detail: "Installing them needed more space than a build may use, or a larger file than it may write.",
      remedy: "Remove large packages, or choose their smaller variants (for example CPU-only builds).",
    }),
  },
];

const lockOutdated = (detail: string): Explanation => ({
  code: "lock_outdated",
  title: "uv.lock is out of date or damaged",
  detail,
  remedy: "Run `uv lock` with a current uv, commit uv.lock and push.",
  file: "uv.lock",
  action: changeCodeBy({ kind: "delete", file: "uv.lock" }),
});

const lockedForOther = (range: string, context: StepContext): Explanation => ({
  code: "python_unavailable",
  title: `uv.lock is not for Python ${context.pythonVersion}`,
  detail: `It was made for Python ${range}, while \`.python-version\` or pyproject.toml chooses ${context.pythonVersion}.`,
  action: byPython(range, context),
  remedy: `Run \`uv lock\`, so that the lock covers what \`requires-python\` allows, and commit it. Or choose Python ${range} in \`.python-version\`, if this platform has it.`,
  file: "uv.lock",
});

const pythonMismatch = (range: string | null, context: StepContext, by = "A package"): Explanation => ({
  code: "python_unavailable",
  title: `The dependencies don't support Python ${context.pythonVersion}`,
  action: byPython(range, context),
  detail: range === null ? `${by} doesn't support this Python.` : `${by} requires Python ${range}.`,
  remedy:
    "Set `.python-version`, or `requires-python` in pyproject.toml, to a version that they support and that this platform has.",
});

const notFound = (name: string, context: StepContext): Explanation => ({
  code: "dependency_not_found",
  title: `There is no package named ${name}`,
  detail: `${place(context)} requires \`${name}\`, which the package index doesn't have. A package's name often differs from its import name.`,
  remedy: `Correct or remove \`${name}\` in ${place(context)}. For a private package, ask the operator to add its index to UV_INDEX.`,
  action: byDropping(nameIn(name), context),
});

/** Without what follows a package's name. */
const nameIn = (requirement: string) => /^[\w.-]+/.exec(requirement)?.[0] ?? requirement;

/** `by`: the package that requires it, such as `markitdown>=0.1.9`; null: the project. */
const noVersion = (what: string, context: StepContext, more = "", by: string | null = null): Explanation => ({
  code: "dependency_not_found",
  title: `There is no such version: ${what}`,
  detail:
    `${requiring(by, context)} requires \`${what}\`, which the package index doesn't have for Python ${context.pythonVersion}. ${more}`.trim(),
  remedy:
    by === null
      ? `Change ${place(context)} to a version that exists.`
      : `Require another release of \`${by.split(/[<>=!~]/)[0]}\` in ${place(context)}: a mirror may be behind, so an older one is the surest.`,
  ...(by === null && { action: byRequiring(what.split(/[<>=!~]/)[0] ?? what, context) }),
});

const refused = (what: string, status: string, context: StepContext): Explanation => ({
  code: "dependency_not_found",
  title: `The package index doesn't serve ${what}`,
  detail: `It lists ${what}, and answers its download with HTTP ${status}: the file was withdrawn, or a mirror doesn't have it.`,
  remedy: `Choose another version: \`uv lock --upgrade-package ${what.split("==")[0]}\`, or an upper bound in ${place(context)}. If it is available elsewhere, the operator must check UV_INDEX.`,
});

const invalidFile = (file: string): Explanation => ({
  code: "invalid_project_file",
  title: `${file} can't be parsed`,
  detail: "uv's output is below; it names the line.",
  remedy: `Correct ${file} and push again.`,
  file,
});

const unreachable = (detail: string): Explanation => ({
  code: "index_unreachable",
  title: "The package index doesn't answer",
  detail,
  remedy: "Rebuild in a moment. If it fails again, the operator must check the network and the UV_INDEX settings.",
  action: rebuild,
});

const excerptLines = 40;
const maxLineCharacters = 4_000;

/** Turns the output of a failed uv into a diagnosis with a remedy; a general one when no rule matches. Pure. */
export function diagnoseUv(output: string, context: StepContext): Diagnosis {
  // uv wraps long explanations; the rules match one line.
  const flat = shortLines(output.replace(/\r/g, "").replace(/\n {4,}(?=\S)/g, " "));
  const excerpt = excerptOf(output);
  for (const { pattern, explain } of rules) {
    const match = pattern.exec(flat);
    if (match === null) continue;
    const { code, file = context.file, action = changeCode, ...texts } = explain(match, context, output);
    return diagnosis("install", code, action, { ...texts, file, excerpt });
  }
  return diagnosis("install", "dependency_build_failed", changeCode, {
    title: "The dependencies couldn't be installed",
    detail: "uv failed; its output is below.",
    remedy: `Check ${place(context)}. \`uv pip install\` with Python ${context.pythonVersion} should fail on your machine in the same way.`,
    file: context.file,
    excerpt,
  });
}

/** The output includes what packages print while they are built; long lines would make the rules slow. */
const shortLines = (text: string): string => {
  const lines = text.split("\n").map((line) => line.slice(0, maxLineCharacters));
  return lines.join("\n");
};

/** The lines from the first that names an error, else the last lines; at most 40. */
function excerptOf(output: string): string | null {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const start = lines.findIndex((line) => /^(error:|×|╰─▶)/.test(line.trimStart()));
  const kept = start === -1 ? lines.slice(-excerptLines) : lines.slice(start, start + excerptLines);
  return kept.length === 0 ? null : kept.join("\n");
}
