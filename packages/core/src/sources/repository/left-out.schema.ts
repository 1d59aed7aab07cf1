import { TowpathError } from "../../errors/index.ts";
import { type IgnoreRule, parseGitignore, ruleMatches, type Spend } from "./gitignore.schema.ts";

/**
 * What of a folder, an archive or a directory becomes no commit (SRC-4): one rule for browser, terminal and the instance.
 * Browser-safe. Paths are relative to the top, with forward slashes.
 */

/** What no server is built from: history, environments, caches. */
export const leftOutDirectories = [
  ".git",
  ".hg",
  ".svn",
  ".venv",
  "venv",
  "node_modules",
  "__pycache__",
  ".tox",
  ".nox",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  ".ipynb_checkpoints",
  ".idea",
];
const files = [".DS_Store", "Thumbs.db", "desktop.ini"];
/** Whoever may read the repository would read them. */
const secretFiles = [".envrc", ".netrc", ".pypirc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
/** Without values: they name the variables of a server. */
const examples = /^\.env\.(?:\w+\.)?(?:example|sample|template|dist|defaults)$/;

/** Whether a directory of this name is left out with all that is in it. */
export const isLeftOutDirectory = (name: string): boolean => leftOutDirectories.includes(name);

/** Whether a file of this name looks as if it had secrets: `.env`, `.env.local`, a private key. */
export const looksSecret = (name: string): boolean =>
  secretFiles.includes(name) || name === ".env" || (name.startsWith(".env.") && !examples.test(name));

/** Why a file is left out, also if `.gitignore` allows it: the name of a directory above it, or its own; null: it isn't. */
export function leftOutName(path: string): string | null {
  const names = path.split("/");
  const last = names.pop() ?? "";
  const directory = names.find(isLeftOutDirectory);
  if (directory !== undefined) return `${directory}/`;
  return files.includes(last) || last.endsWith(".pyc") || looksSecret(last) ? last : null;
}

/** Whether a symbolic link at `path` leads out of the folder. */
export function leadsOut(path: string, target: string): boolean {
  if (target === "" || target.startsWith("/") || /[\p{Cc}\\]/u.test(target) || /^[A-Za-z]:/.test(target)) return true;
  return climbsOut(path, target);
}

/** Whether any step of a relative link at `path` is above the directory that `path` begins in, compared as text. */
export function climbsOut(path: string, target: string): boolean {
  let depth = path.split("/").length - 1;
  for (const step of target.split("/")) {
    if (step === "..") depth -= 1;
    else if (step !== "" && step !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** No text of rules that people write is longer. */
export const maxGitignoreBytes = 200_000;
/** Of all of them: each line takes memory. */
export const maxGitignoreBytesTogether = 2_000_000;

/** Whether a path is one of git's files of rules. */
export const isGitignore = (path: string): boolean => path === ".gitignore" || path.endsWith("/.gitignore");

/** Comparisons for all paths together, a second or two. 50,000 files and 300 rules take 20 million. */
const maxSteps = 40_000_000;

const tooManyRules = "The .gitignore files have too many rules for so many files. Make them shorter, then try again.";

/**
 * What `.gitignore` files say. `texts`: by the files' paths.
 *
 * @returns why a file is left out: the directory above it that is ignored, with a slash, or its own path; null for one that
 * isn't. @throws TowpathError `invalid_input` with `fields.archive` if that takes too long
 */
export function gitignoreRule(texts: ReadonlyMap<string, string>): (path: string) => string | null {
  const rules = new Map(
    [...texts].map(([path, text]) => [path.slice(0, -".gitignore".length), parseGitignore(text).toReversed()]),
  );
  let left = maxSteps;
  const spend = (steps: number) => {
    left -= steps;
    if (left < 0) throw new TowpathError("invalid_input", tooManyRules, { fields: { archive: tooManyRules } });
  };
  // A directory has many files.
  const known = new Map<string, boolean>();
  return (path) => {
    if (rules.size === 0) return null;
    const names = path.split("/");
    const above: Above[] = [];
    let directory = "";
    for (let at = 0; at < names.length; at += 1) {
      spend(1 + (directory.length >> 4));
      const of = rules.get(directory);
      if (of) above.unshift({ rules: of, depth: at });
      const isDirectory = at + 1 < names.length;
      const here = `${directory}${names[at]}${isDirectory ? "/" : ""}`;
      const isIgnored = known.get(here) ?? decide(above, names.slice(0, at + 1), { isDirectory, spend });
      if (isDirectory) known.set(here, isIgnored);
      if (isIgnored) return here;
      directory = here;
    }
    return null;
  };
}

/** Rules of a directory so deep, the last first. */
type Above = { readonly rules: readonly IgnoreRule[]; readonly depth: number };

/** The rules nearest to a path that say anything about it count. `above`: nearest first. */
function decide(
  above: readonly Above[],
  names: readonly string[],
  of: { readonly isDirectory: boolean; readonly spend: Spend },
): boolean {
  for (const { rules, depth } of above) {
    const inner = names.slice(depth);
    const found = rules.find((rule) => ruleMatches(rule, inner, of));
    if (found) return !found.negates;
  }
  return false;
}

const maxNamed = 8;

/** In one line, for people: what was left out, each name once; null for nothing. */
export function leftOutLine(names: Iterable<string>): string | null {
  const all = [...new Set(names)].toSorted();
  if (all.length === 0) return null;
  const more = all.length > maxNamed ? ` and ${all.length - maxNamed} more` : "";
  return `Left out: ${all.slice(0, maxNamed).join(", ")}${more}.`;
}

/** What to do about those that have secrets; null for none. */
export function secretsLine(names: Iterable<string>): string | null {
  const secret = [...new Set(names)].filter((name) => looksSecret(name.split("/").at(-1) ?? "")).toSorted();
  if (secret.length === 0) return null;
  return `${secret.join(" and ")} ${secret.length === 1 ? "has" : "have"} secrets: add them as environment variables, which are stored encrypted.`;
}
