// Reads docs/requirements.md and the titles of tests that name its promises.

type Requirement = {
  readonly id: string;
  readonly isMainJob: boolean;
  readonly text: string;
  /** What its tests show, in words; null when the line is missing. */
  readonly shown: string | null;
};

/** A test that names a promise, with its file. */
export type Proof = { readonly id: string; readonly title: string };

const promisePattern = /^- ([A-Z]+-\d+) (?:spec|design|beyond)( \*\*M\*\*)?: (.+)$/;
const shownPattern = /^ {2}Shown: (.+)$/;
/** A reader checks each clause against a test. */
const maxShownCharacters = 720;

/** Parses docs/requirements.md. `problems` names each malformed promise and `Shown:` line. */
export function parseRequirements(markdown: string): { requirements: Requirement[]; problems: string[] } {
  const requirements: Requirement[] = [];
  const problems: string[] = [];
  const lines = markdown.split("\n");
  for (const [at, line] of lines.entries()) {
    const promise = promisePattern.exec(line);
    if (promise !== null) {
      const [, id = "", mark, text = ""] = promise;
      if (requirements.some((other) => other.id === id)) problems.push(`${id} occurs twice.`);
      const shown = shownPattern.exec(lines[at + 1] ?? "")?.[1] ?? null;
      if ((shown?.length ?? 0) > maxShownCharacters)
        problems.push(`${id}: shorten "Shown:" to ${maxShownCharacters} characters, one clause per test.`);
      requirements.push({ id, isMainJob: mark !== undefined, text, shown });
    } else if (/^ {0,3}-\s+\**[A-Z]+-\d/.test(line)) {
      problems.push(`Line ${at + 1} is not a promise: write "- AREA-1 spec|design|beyond[ **M**]: text".`);
    } else if (/^ {0,3}Shown:/i.test(line) && !(shownPattern.test(line) && promisePattern.test(lines[at - 1] ?? ""))) {
      problems.push(`Line ${at + 1}: write "  Shown: …" directly below its promise.`);
    }
  }
  return { requirements, problems };
}

/** A test's title: the first argument of test, it or describe, also after `.each(…)`; not of `.skip` and `.todo`. */
const titlePattern =
  /\b(?:test|it|describe)(?:\.(?!skip\b|todo\b)\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;

/** The promises that test titles name in a TypeScript or Python file. Comments and bodies don't count. */
export function proofsIn(file: string, source: string): Proof[] {
  if (file.endsWith(".py")) {
    return [...source.matchAll(/^\s*(?:async )?def test_([A-Z]+)_(\d+)_(\w+)/gm)].map(
      ([, area, number, rest = ""]) => ({ id: `${area}-${number}`, title: `${file}: ${rest.replaceAll("_", " ")}` }),
    );
  }
  return titlesIn(source).flatMap((title) =>
    [...title.matchAll(/\b[A-Z]{2,}-\d+\b/g)].map(([id]) => ({ id, title: `${file}: ${title}` })),
  );
}

/** The titles of tests in a TypeScript file that run by default. Comments don't count. */
export function titlesIn(source: string): string[] {
  const code = source
    .replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "")
    .replaceAll(/\b(?:test|it|describe)\.runIf\(isThorough\)/g, "thorough");
  return [...code.matchAll(titlePattern)].map(([, , title = ""]) => title);
}

type Coverage = "whole" | "part" | "none";

/** "part" when the `Shown:` line says what is not shown. */
export function coverageOf({ shown }: Requirement): Coverage {
  if (shown === null) return "none";
  return shown.includes("Not shown:") ? "part" : "whole";
}

/** Where document and titles disagree, one sentence each. */
export function problemsOf(requirements: readonly Requirement[], proofs: readonly Proof[]): string[] {
  const known = new Set(requirements.map(({ id }) => id));
  const areas = new Set(requirements.map(({ id }) => id.split("-")[0]));
  const named = new Set(proofs.map(({ id }) => id));
  const problems = [...named]
    .filter((id) => areas.has(id.split("-")[0]) && !known.has(id))
    .map((id) => `${id} is in a test's title, but not in docs/requirements.md.`);
  for (const { id, isMainJob, shown } of requirements) {
    if (named.has(id) && shown === null)
      problems.push(`${id} has tests, but no "Shown:" line that says what they show.`);
    if (!named.has(id) && shown !== null) problems.push(`${id} has a "Shown:" line, but no test's title names it.`);
    if (!named.has(id) && isMainJob) problems.push(`${id} is part of the main job, and no test's title names it.`);
  }
  return problems;
}
