import { buildImage } from "@towpath/runtime";
import { askOperator } from "../failure.ts";
import type { StepContext } from "../install/run-step.ts";
import { packageOfProgram, packageToCompile } from "./debian-packages.ts";
import { isPartOfPython, requiresModule } from "./standard-library.ts";
import { byRequiring, type Explanation, place, type Rule, requiring } from "./uv-rule.ts";

/** Packages that have to be built from source, by scripts of their authors. */
export const buildRule: Rule = {
  pattern:
    /Failed to (?:download and )?build|The build backend returned an error|Build backend failed|Failed to (?:prepare|resolve) .{0,500}build/,
  explain: (_match, context, output) => failure(output, context),
};

/** `name==1.0`, or `name @ file:///app/src`. */
const whatIn = /Failed to (?:download and )?build `([\w.-]{1,100})(?:==([\w.+!-]{1,100})| @ ([^`\s]{1,500}))/;
const chainIn = /was included because ([^\n]{1,2000})/;

function failure(output: string, context: StepContext): Explanation {
  const [, name = null, version, url] = whatIn.exec(output) ?? [];
  const missing = missingIn(output);
  const because = missing === null ? ". That failed; its output is below." : `. That failed: ${missing.sentence}.`;
  if (name !== null && url === `file://${buildImage.code}`) {
    return {
      code: "dependency_build_failed",
      title: missing === null ? `The project ${name} couldn't be built` : `Building ${name} needs ${missing.what}`,
      detail: `The project has to be built before it can be installed${because}`,
      remedy: `${missing === null ? "The end of the output says why, and `uv build` should fail in the same way on a similar machine." : fromOperator(missing)} Or, if a release of it on the package index has a wheel, deploy that: \`pypi:${name}\`.`,
      ...byOperator(missing),
    };
  }
  const by = name === null ? null : requirerOf(name, output, context);
  if (name !== null && isPartOfPython(name)) return requiresModule(name, by, context);
  const what = name === null ? "A dependency" : version === undefined ? name : `${name} ${version}`;
  const alone = `${by === null ? "R" : `In ${place(context)}, r`}equire ${instead(name, by)}.`;
  return {
    code: "dependency_build_failed",
    title: missing === null ? `${what} couldn't be built` : `Building ${what} needs ${missing.what}`,
    detail: `${requiring(by, context)} requires ${name === null ? "something" : `\`${name}\``}, which has no wheel for Python ${context.pythonVersion} on Linux and so has to be built from its source${because}`,
    remedy:
      missing === null
        ? `${alone} ${otherPython}`
        : `${fromOperator(missing)} Or ${alone[0]?.toLowerCase()}${alone.slice(1)}`,
    ...byOperator(missing),
    ...(name === null || by !== null ? {} : byOtherName(name, context)),
  };
}

const byOperator = (missing: Missing | null) => (missing === null ? {} : { action: askOperator });

/** In place of a package whose library has wheels under another name. */
function byOtherName(name: string, context: StepContext): Pick<Explanation, "action"> {
  const known = withWheels[name.toLowerCase()];
  return known === undefined ? {} : { action: byRequiring(known, context, name) };
}

const otherPython = "Or choose a Python for which it has a wheel, in `.python-version`.";

/** A package that requires it; null if it is the project itself, or unknown. */
function requirerOf(name: string, output: string, { requirers }: StepContext): string | null {
  const known = requirers?.get(name)?.[0];
  if (known !== undefined) return known;
  // From a lock: `project` (v1) depends on `package` (v2) which depends on `name`
  const chain = [...(chainIn.exec(output)?.[1] ?? "").matchAll(/`([\w.-]{1,100})`/g)].map((match) => match[1] ?? "");
  return chain.length < 3 ? null : (chain.at(-2) ?? null);
}

function instead(name: string | null, by: string | null): string {
  if (by !== null) return `another release of \`${by}\` that doesn't need it, or another package in place of \`${by}\``;
  const known = name === null ? undefined : withWheels[name.toLowerCase()];
  return known === undefined
    ? "a release that has a wheel, or another package that does the same"
    : `\`${known}\` instead`;
}

/** The same library as a wheel from its authors. */
const withWheels: Readonly<Record<string, string>> = {
  "opencv-python": "opencv-python-headless",
  psycopg2: "psycopg2-binary",
};

type Missing = {
  readonly what: string;
  readonly sentence: string;
  /** From Debian; null if unknown. */
  readonly debian: string | null;
};

const fromOperator = ({ debian, what }: Missing) =>
  debian === null
    ? `Ask the operator to install ${what} on this host.`
    : `Ask the operator to install the Debian package \`${debian}\` on this host.`;

const program = (path: string): Missing => {
  const name = path.split("/").at(-1) ?? path;
  const sentence = `it runs \`${name}\`, which isn't installed`;
  return { what: `the program \`${name}\``, sentence, debian: packageOfProgram(name) };
};

const library = (name: string, kind: string): Missing => ({
  what: `the ${kind} \`${name}\``,
  sentence: `it needs the ${kind} \`${name}\`, which isn't installed`,
  debian: packageToCompile(name),
});

const rust: Missing = {
  what: "a Rust compiler",
  sentence: "it is written in Rust, and there is no Rust compiler",
  debian: "cargo",
};

/** Messages of compilers, shells and build scripts about missing parts of the system. The first match counts. */
const missingRules: readonly (readonly [RegExp, (name: string) => Missing])[] = [
  [
    /Rust not found|can't find Rust compiler|rustc, the rust compiler, is not installed|Cargo, the Rust package/i,
    () => rust,
  ],
  [/fatal error: ([\w./+-]{1,200}\.h(?:h|pp)?): No such file/, (name) => library(name, "header")],
  [/cannot find -l([\w.+-]{1,100})/, (name) => library(name, "library")],
  [
    /(?:Package '?|Dependency lookup for |No package ')([\w.+-]{1,100})'?(?:, required by| with method| found)/,
    (name) => library(name, "library"),
  ],
  [/sh: (?:line )?\d{1,5}: ([\w./+-]{1,200}): (?:command )?not found/, program],
  [/([\w.+-]{1,100}) executable not found/, program],
  [/command '([\w./+-]{1,200})' failed: No such file/, program],
  [/FileNotFoundError: \[Errno 2\] No such file or directory: '([\w+-]{1,100})'/, program],
  [/OSError: ([\w.+-]{1,100}) not found/, program],
];

function missingIn(output: string): Missing | null {
  for (const [pattern, found] of missingRules) {
    const match = pattern.exec(output);
    if (match !== null) return found(match[1] ?? "");
  }
  return null;
}
