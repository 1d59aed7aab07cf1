import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { parseSync } from "@swc/core";
import { expect, test } from "vitest";

// Tenants write log lines, repository files, headers and servers' answers. A pattern that backtracks over such text
// blocks the event loop for every other tenant. Which patterns see it changes with their callers, so this test attacks
// every pattern of the platform.

const root = join(import.meta.dirname, "..");

/** Far more than a long line: log lines are cut at 8 KiB and read no further than their first 256 characters. */
const attackLength = 20_000;
/** Linear patterns take half a millisecond, quadratic ones 200. CPU time, which a busy machine doesn't change. */
const maxMs = 60;
/** A match that takes longer by the clock is aborted. */
const giveUpMs = 20_000;

/** By file: quadratic patterns, and the longest input that their callers pass. */
const shortInputs: Readonly<Record<string, { readonly source: string; readonly maxLength: number }>> = {
  // URLs in the operator's settings.
  "apps/forge/src/config.ts": { source: "\\/+$", maxLength: 200 },
  "apps/web/src/config.server.ts": { source: "\\/+$", maxLength: 200 },
  "packages/auth/src/oidc.ts": { source: "\\/+$", maxLength: 200 },
  "packages/github/src/github.config.ts": { source: "\\/+$", maxLength: 200 },
};

/** Files that build patterns at run time, which this test can't find. They match paths, our own text or escaped words only. */
const withConstructor: readonly string[] = [
  "apps/web/src/features/docs/search.server.ts",
  "apps/web/src/features/error-reporting/error-reporting.ts",
  "packages/auth/src/credentials/api-key.ts",
  "packages/runner-api/src/server.ts",
  "packages/runtime/src/sandbox/",
];

type Pattern = { readonly source: string; readonly flags: string; readonly at: string };

async function patternsOfThePlatform(): Promise<{ readonly patterns: Pattern[]; readonly constructed: string[] }> {
  const found = new Map<string, Pattern>();
  const constructed: string[] = [];
  for await (const file of glob("{apps,packages}/*/{src,serve}/**/*.{ts,tsx}", { cwd: root })) {
    // The terminal has one user.
    if (/\.test\.tsx?$|\/testing\/|\.gen\.ts$|^apps\/cli\//.test(file)) continue;
    const text = readFileSync(join(root, file), "utf8");
    if (/\bRegExp\(/.test(text)) constructed.push(file);
    const program = parseSync(text, {
      syntax: "typescript",
      tsx: file.endsWith("x"),
      target: "es2024",
    });
    for (const [source, flags] of patternsIn(program)) {
      const bounded = shortInputs[file]?.source === source;
      found.set(`${bounded ? file : ""}/${source}/${flags}`, { source, flags, at: file });
    }
  }
  return { patterns: [...found.values()], constructed: constructed.toSorted() };
}

function* patternsIn(node: unknown): Generator<readonly [source: string, flags: string]> {
  if (typeof node !== "object" || node === null) return;
  const typed = node as { type?: string; pattern?: string; flags?: string };
  if (typed.type === "RegExpLiteral" && typeof typed.pattern === "string") yield [typed.pattern, typed.flags ?? ""];
  for (const child of Object.values(node)) yield* patternsIn(child);
}

const units = [
  ..."0aA_ \t\n\r/\\-.,:;=#'\"`[](){}<>|+*~@?&!",
  "{}",
  "[]",
  "()",
  "a ",
  "0.",
  "a.",
  "a-",
  "a/",
  "./",
  "0,",
  "#\n",
  "# \n",
  "a\n",
  " \n",
  "\\\n",
  "\r\n",
  "\\u0000",
  "\u001b[",
  "\u001b]",
  "http://a",
  "://",
  "Error",
];
const commonStarts = ["", "[", "a", "0", "11:11:11", "2026-11-21 10:00:00", "https://", "# ", '"', "{", "-r "];

/** Literal parts of the pattern: an attack must match these before it repeats something. */
function literalsOf(source: string): string[] {
  const plain = source.replaceAll(/\\([^\w\s])/g, "$1").replaceAll("\\n", "\n");
  return (plain.match(/[A-Za-z0-9 #/<`"=:]{2,}/g) ?? []).slice(0, 6);
}

/**
 * No pattern matches it, so one that is anchored to the end has to backtrack. A dot doesn't match the line separator,
 * which splitting into lines keeps.
 */
const unexpectedEnd = "\u2028\u0001";

const textsFrom = (starts: readonly string[], length: number, repeated = units): string[] =>
  starts.flatMap((start) =>
    repeated.map((unit) => `${start}${unit.repeat(Math.ceil(length / unit.length))}${unexpectedEnd}`),
  );
const commonTexts = textsFrom(commonStarts, attackLength);

function attacksOn(pattern: Pattern): string[] {
  const own = literalsOf(pattern.source);
  const bound = shortInputs[pattern.at];
  if (bound?.source === pattern.source) return textsFrom([...commonStarts, ...own], bound.maxLength * 10);
  const ownUnits = own.flatMap((literal) => [literal, `${literal}\n`]);
  return [...commonTexts, ...textsFrom(own, attackLength), ...textsFrom([""], attackLength, ownUnits)];
}

const attack = new Script(`
  const compiled = new RegExp(source, flags);
  for (const text of texts) {
    state.text = text;
    state.begun = now();
    compiled.lastIndex = 0;
    compiled.test(text);
    const ms = now() - state.begun;
    if (ms > state.ms) Object.assign(state, { ms, slowest: text });
    if (ms > maxMs) break;
  }
`);

/** CPU time of this thread, milliseconds. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The slowest attack and its milliseconds; one that hangs is aborted. */
function slowestAttack(pattern: Pattern): { readonly ms: number; readonly text: string } {
  const { source, flags } = pattern;
  const state = { text: "", begun: 0, ms: 0, slowest: "" };
  const texts = attacksOn(pattern);
  const context = createContext({ source, flags, texts, state, maxMs, now: processorMs });
  try {
    attack.runInContext(context, { timeout: giveUpMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return { ms: processorMs() - state.begun, text: state.text.slice(0, 40) };
  }
  return { ms: state.ms, text: state.slowest.slice(0, 40) };
}

test("RUN-5 no pattern of the platform takes long on several times its usual input", { timeout: 600_000 }, async () => {
  const { patterns, constructed } = await patternsOfThePlatform();
  expect(patterns.length).toBeGreaterThan(150);
  expect(constructed.filter((file) => !withConstructor.some((known) => file.startsWith(known)))).toEqual([]);
  const isSlow = (pattern: Pattern) => {
    const { ms, text } = slowestAttack(pattern);
    return ms < maxMs ? [] : [`${pattern.at} /${pattern.source}/ on ${JSON.stringify(text)}…`];
  };
  // Garbage collection counts too and can hit any of them, so the slow ones get a second try.
  const slow = patterns.flatMap((pattern) => (isSlow(pattern).length > 0 ? isSlow(pattern) : []));
  expect(slow).toEqual([]);
  const found = new Set(patterns.map((pattern) => `${pattern.at} ${pattern.source}`));
  expect(Object.entries(shortInputs).filter(([at, { source }]) => !found.has(`${at} ${source}`))).toEqual([]);
});
