import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { parseSync } from "@swc/core";
import { expect, test } from "vitest";
import { tokenPattern } from "../packages/replay/src/text.ts";
import { isThorough, rounds } from "../tests/thorough.ts";

// Tenants write log lines, repository files, headers and servers' answers. A pattern that backtracks over such text
// blocks the event loop for every other tenant. Which patterns see it changes with their callers, so this test attacks
// every pattern of the platform.

const root = join(import.meta.dirname, "..");

/**
 * Thoroughly, more than the longest line: log lines are cut at 8 KiB and read no further than their first 256 characters.
 */
const attackLength = rounds(6_000, 10_000);
/** Processor time at which a pattern is looked at closer. Linear ones take a tenth of a millisecond, quadratic ones 18. */
const suspiciousMs = 5;
/** How much longer a match may take than one of a quarter of the text: linear ones take 4 times, quadratic ones 16. */
const maxGrowth = 8;
/** The same where quadratic ones are allowed: cubic ones take 64 times. */
const maxGrowthOfShort = 32;
/** Processor time over which a mean is taken. */
const meanOfMs = 50;
/** A match that takes longer by the clock is aborted, and hangs if it had a processor for a quarter of it. */
const giveUpMs = 500;

/** By file: quadratic patterns, and the longest input that their callers pass. */
const shortInputs: Readonly<Record<string, { readonly source: string; readonly maxLength: number }>> = {
  // URLs in the operator's settings.
  "apps/web/src/config.server.ts": { source: "\\/+$", maxLength: 200 },
  "packages/auth/src/oidc.ts": { source: "\\/+$", maxLength: 200 },
  "packages/auth/src/oidc.config.ts": { source: "\\/+$", maxLength: 200 },
  "packages/github/src/github.config.ts": { source: "\\/+$", maxLength: 200 },
  // The digits of a number.
  "apps/web/src/ui/figure.tsx": { source: "\\B(?=(?:\\d{3})+$)", maxLength: 25 },
};

/** Patterns of tenants' texts that are built at run time, by file. */
const built: Readonly<Record<string, RegExp>> = { "packages/replay/src/text.ts": tokenPattern };

/** Files that build patterns at run time, which this test can't find. They match paths, our own text or escaped words only. */
const withConstructor: readonly string[] = [
  "apps/web/src/features/site/docs/search.server.ts",
  "apps/web/src/features/shared/error-reporting/error-reporting.ts",
  "packages/auth/src/credentials/api-key.ts",
  "packages/runner-api/src/server.ts",
  "packages/runtime/src/host/sandbox/",
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
  for (const [at, { source, flags }] of Object.entries(built)) found.set(`/${source}/${flags}`, { source, flags, at });
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
const furtherStarts = ["0", '"', "https://", "[", "11:11:11", "2026-11-21 10:00:00", "# ", "{", "-r "];
const commonStarts = ["", "a", ...(isThorough ? furtherStarts : [])];

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

type Attack = { readonly start: string; readonly unit: string };

const textOf = ({ start, unit }: Attack, length: number): string =>
  `${start}${unit.repeat(Math.ceil(length / unit.length))}${unexpectedEnd}`;
const attacksFrom = (starts: readonly string[], repeated = units): Attack[] =>
  starts.flatMap((start) => repeated.map((unit) => ({ start, unit })));

const isShort = ({ source, at }: Pattern) => shortInputs[at]?.source === source;
const lengthOfAttacks = (pattern: Pattern) =>
  isShort(pattern) ? (shortInputs[pattern.at]?.maxLength ?? 0) * 10 : attackLength;

/** The texts of most attacks on most patterns. */
const commonAttacks = attacksFrom(commonStarts);
const commonTexts = commonAttacks.map((attack) => textOf(attack, attackLength));

function attacksOn(pattern: Pattern): { readonly attacks: readonly Attack[]; readonly texts: readonly string[] } {
  const own = literalsOf(pattern.source);
  const length = lengthOfAttacks(pattern);
  const ownUnits = own.flatMap((literal) => [literal, `${literal}\n`]);
  const ownAttacks = [...attacksFrom(own), ...attacksFrom([""], ownUnits)];
  const common = length === attackLength ? commonTexts : commonAttacks.map((attack) => textOf(attack, length));
  return {
    attacks: [...commonAttacks, ...ownAttacks],
    texts: [...common, ...ownAttacks.map((attack) => textOf(attack, length))],
  };
}

/** CPU time of this thread, milliseconds: a busy machine changes it little. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Matches from `state.at` on until one takes suspiciously long. */
const matchAll = new Script(`
  for (; state.at < texts.length && state.ms < enoughMs; state.at++) {
    const begun = now();
    compiled.lastIndex = 0;
    compiled.test(texts[state.at]);
    state.ms = now() - begun;
  }
`);

/** The first text that takes so long, or the number of texts, and the milliseconds of the last one: infinite if it hangs. */
function firstSlow(
  compiled: RegExp,
  texts: readonly string[],
  { from, enoughMs }: { from: number; enoughMs: number },
): { readonly at: number; readonly ms: number } {
  const state = { at: from, ms: 0 };
  const context = createContext({ compiled, texts, state, enoughMs, now: processorMs });
  for (let timeout = giveUpMs; ; timeout *= 2) {
    const [{ at }, begun] = [state, processorMs()];
    try {
      matchAll.runInContext(context, { timeout });
      return state.ms < enoughMs ? { at: texts.length, ms: state.ms } : { at: state.at - 1, ms: state.ms };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      // Otherwise many texts took that long together, or this process had no processor.
      if (state.at === at && processorMs() - begun > giveUpMs / 4) return { at, ms: Number.POSITIVE_INFINITY };
    }
  }
}

/** The processor time of a match, as the mean of many: the system counts it in steps of several milliseconds. */
function meanMs(compiled: RegExp, text: string): number {
  for (let count = 1; ; count *= 2) {
    const begun = processorMs();
    const { ms } = firstSlow(compiled, Array(count).fill(text), { from: 0, enoughMs: Number.POSITIVE_INFINITY });
    if (ms === Number.POSITIVE_INFINITY) return ms;
    const total = processorMs() - begun;
    if (total >= meanOfMs) return total / count;
  }
}

/** The first attack on a pattern that takes more than in proportion to its length. */
function slowAttackOn(pattern: Pattern): Attack | undefined {
  const compiled = new RegExp(pattern.source, pattern.flags);
  const { attacks, texts } = attacksOn(pattern);
  const maxOfThis = isShort(pattern) ? maxGrowthOfShort : maxGrowth;
  const length = lengthOfAttacks(pattern);
  let enoughMs = suspiciousMs;
  for (let from = 0; ; from++) {
    const found = firstSlow(compiled, texts, { from, enoughMs });
    from = found.at;
    const attack = attacks[from];
    if (attack === undefined) return undefined;
    if (found.ms === Number.POSITIVE_INFINITY) return attack;
    const measure = () => {
      const ms = meanMs(compiled, textOf(attack, length));
      return { ms, grows: ms > maxOfThis * meanMs(compiled, textOf(attack, length / 4)) };
    };
    // Processor time varies too, with what else uses the caches: what really grows does so each time.
    const { ms, grows } = measure();
    if (grows && measure().grows && measure().grows) return attack;
    // It takes long for each character, but not longer for more of them.
    enoughMs = Math.max(enoughMs, ms * 3);
  }
}

/**
 * Whether a pattern repeats nothing often: a match then takes a bounded number of steps from each place, so its time is in
 * proportion to the text's length. Signs in nested character classes count as repetitions, too.
 */
function repeatsLittle({ source }: Pattern): boolean {
  const signs = source.replaceAll(/\\./g, "").replaceAll(/\[[^\]]*\]/g, "");
  const counts = [...signs.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) =>
    most === "" ? maxLittle : Number(most ?? least),
  );
  return !/[*+]/.test(signs) && counts.every((count) => count < maxLittle);
}
const maxLittle = 50;

const quadratic = (source: string): Pattern => ({ source, flags: "", at: "" });

test("RUN-5 an attack finds patterns that take more than in proportion to a text's length", () => {
  for (const source of ["\\s+$", "(?:a+)+$"]) {
    expect(slowAttackOn(quadratic(source)), source).toBeDefined();
  }
  expect(slowAttackOn(quadratic("^\\s+"))).toBeUndefined();
  const isLeftOut = (source: string) => repeatsLittle(quadratic(source));
  expect(["a*", "[+]a+", "\\+(?:a|b)+", "a{2,}", "a{0,500}", "a{500}"].filter(isLeftOut)).toEqual([]);
  expect(["^a?b$", "[*+]", "\\+\\*", "a{2}", "a{0,8}b"].filter(isLeftOut)).toHaveLength(5);
});

test("RUN-5 no pattern of the platform takes long on several times its usual input", { timeout: 600_000 }, async () => {
  const { patterns, constructed } = await patternsOfThePlatform();
  expect(patterns.length).toBeGreaterThan(150);
  const known = [...Object.keys(built), ...withConstructor];
  expect(constructed.filter((file) => !known.some((start) => file.startsWith(start)))).toEqual([]);
  const repeating = patterns.filter((pattern) => !repeatsLittle(pattern));
  expect(repeating.length).toBeGreaterThan(150);
  const slow = repeating.flatMap((pattern) => {
    const attack = slowAttackOn(pattern);
    return attack ? [`${pattern.at} /${pattern.source}/ on ${JSON.stringify(attack)}`] : [];
  });
  expect(slow).toEqual([]);
  const found = new Set(patterns.map((pattern) => `${pattern.at} ${pattern.source}`));
  expect(Object.entries(shortInputs).filter(([at, { source }]) => !found.has(`${at} ${source}`))).toEqual([]);
});
