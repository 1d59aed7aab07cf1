/**
 * Patterns of `.gitignore` files, matched as git's wildmatch does, but in time that grows with the pattern times the path:
 * both come from strangers, and a pattern that backtracks would hold up everybody else. Browser-safe. Source: gitignore(5).
 */

/** A character of a name: any one, `*`, or one from these ranges of character codes, or from none of them. */
type Token = "any" | "star" | { readonly ranges: readonly (readonly [number, number])[]; readonly negated: boolean };

/** Of one name. Most are literal, or `*` and a literal ending. */
type Name = string | { readonly ending: string } | readonly Token[];

/** Names of a path; null: any number of directories, `**`. */
type Pattern = readonly (Name | null)[];

export type IgnoreRule = {
  /** What it matches isn't ignored after all. */
  readonly negates: boolean;
  readonly directoriesOnly: boolean;
  readonly pattern: Pattern;
};

/** What comparisons may still take; throws when that is used up. */
export type Spend = (steps: number) => void;

/** Nobody writes longer ones. */
const maxLineLength = 1000;

/** The rules of one file, in its order. A line that is no pattern counts for nothing, as in git. */
export function parseGitignore(text: string): readonly IgnoreRule[] {
  return text
    .replace(/^\ufeff/, "")
    .split("\n")
    .flatMap((line) => parseLine(line) ?? []);
}

function parseLine(given: string): IgnoreRule | null {
  if (given.length > maxLineLength) return null;
  const line = withoutTrailingSpaces(given.endsWith("\r") ? given.slice(0, -1) : given);
  if (line.startsWith("#")) return null;
  const negates = line.startsWith("!");
  const rest = negates ? line.slice(1) : line;
  const directoriesOnly = rest.endsWith("/");
  const path = directoriesOnly ? rest.slice(0, -1) : rest;
  if (path === "") return null;
  const names = path.split("/");
  // With a slash it begins at the directory of the file, without it matches names anywhere below.
  const isAnchored = names.length > 1;
  const parts = (names[0] === "" ? names.slice(1) : names).map((name) =>
    isAnchored && name === "**" ? null : parseName(name),
  );
  if (parts.includes(undefined)) return null;
  const found = parts as (Name | null)[];
  // `a/**` is all within a, not a itself.
  const last = found.at(-1) === null ? [{ ending: "" }] : [];
  return { negates, directoriesOnly, pattern: [...(isAnchored ? [] : [null]), ...found, ...last] };
}

/** A backslash keeps the space behind it. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") end -= 1;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === "\\") backslashes += 1;
  return end < line.length && backslashes % 2 === 1 ? line.slice(0, end + 1) : line.slice(0, end);
}

const literal = (char: string): Token => ({ ranges: [[char.charCodeAt(0), char.charCodeAt(0)]], negated: false });

/** Undefined: it matches nothing. */
function parseName(name: string): Name | undefined {
  if (!/[*?[\\]/.test(name)) return name;
  if (/^\*[^*?[\\]*$/.test(name)) return { ending: name.slice(1) };
  const tokens: Token[] = [];
  for (let at = 0; at < name.length; at += 1) {
    const char = name.charAt(at);
    if (char === "*") {
      if (tokens.at(-1) !== "star") tokens.push("star");
    } else if (char === "?") tokens.push("any");
    else if (char === "[") {
      const set = parseSet(name, at + 1);
      if (set === null) return undefined;
      tokens.push(set.token);
      at = set.end;
    } else if (char === "\\") {
      at += 1;
      if (at === name.length) return undefined;
      tokens.push(literal(name.charAt(at)));
    } else tokens.push(literal(char));
  }
  return tokens;
}

/** ASCII, as git's own. */
const classes: Readonly<Record<string, string>> = {
  alnum: "09AZaz",
  alpha: "AZaz",
  blank: "\t\t  ",
  cntrl: "\0\x1f\x7f\x7f",
  digit: "09",
  graph: "!~",
  lower: "az",
  print: " ~",
  punct: "!/:@[`{~",
  space: "\t\r  ",
  upper: "AZ",
  xdigit: "09AFaf",
};

/** What follows a `[`. `end`: where its `]` is. Null: it has none, or names an unknown class. */
function parseSet(name: string, start: number): { readonly token: Token; readonly end: number } | null {
  const ranges: (readonly [number, number])[] = [];
  const negated = name[start] === "!" || name[start] === "^";
  const first = negated ? start + 1 : start;
  for (let at = first; at < name.length; at += 1) {
    if (name[at] === "]" && at > first) return { token: { ranges, negated }, end: at };
    if (name.startsWith("[:", at)) {
      const close = name.indexOf(":]", at + 2);
      const pairs = close < 0 ? undefined : ownClass(name.slice(at + 2, close));
      if (pairs === undefined) return null;
      for (let pair = 0; pair < pairs.length; pair += 2)
        ranges.push([pairs.charCodeAt(pair), pairs.charCodeAt(pair + 1)]);
      at = close + 1;
      continue;
    }
    if (name[at] === "\\") at += 1;
    const low = name.charCodeAt(at);
    if (name[at + 1] !== "-" || name[at + 2] === undefined || name[at + 2] === "]") {
      ranges.push([low, low]);
      continue;
    }
    at += name[at + 2] === "\\" ? 3 : 2;
    ranges.push([low, name.charCodeAt(at)]);
  }
  return null;
}

const ownClass = (name: string) => (Object.hasOwn(classes, name) ? classes[name] : undefined);

/** Whether it is about a path below the directory of its file: `names` of directories above, and its own. */
export function ruleMatches(
  { pattern, directoriesOnly }: IgnoreRule,
  names: readonly string[],
  { isDirectory, spend }: { readonly isDirectory: boolean; readonly spend: Spend },
): boolean {
  spend(1);
  if (directoriesOnly && !isDirectory) return false;
  const [first, second] = pattern;
  // In any directory.
  if (first === null && second && pattern.length === 2) return nameMatches(second, names.at(-1) ?? "", spend);
  return matchesWildcards(
    pattern,
    names,
    (part) => part === null,
    (part, name) => part !== null && nameMatches(part, name, spend),
  );
}

function nameMatches(pattern: Name, name: string, spend: Spend): boolean {
  spend(1);
  if (typeof pattern === "string") return pattern === name;
  if ("ending" in pattern) return name.endsWith(pattern.ending);
  return matchesWildcards(pattern, name, isStar, (token, char) => {
    spend(typeof token === "string" ? 1 : token.ranges.length);
    return fits(token, char.charCodeAt(0));
  });
}

const isStar = (token: Token) => token === "star";

function fits(token: Token, code: number): boolean {
  if (typeof token === "string") return token === "any";
  return token.ranges.some(([low, high]) => low <= code && code <= high) !== token.negated;
}

/**
 * Matches a pattern whose wildcards stand for any number of elements. Only the last wildcard is ever tried again: where
 * what lies between two of them fits first, it fits best.
 */
export function matchesWildcards<Part, Element extends string>(
  pattern: ArrayLike<Part>,
  text: ArrayLike<Element>,
  isWildcard: (part: Part) => boolean,
  isMatch: (part: Part, element: Element) => boolean,
): boolean {
  let [at, next, wildcard, resume] = [0, 0, -1, 0];
  while (next < text.length) {
    const part = pattern[at];
    if (part !== undefined && isWildcard(part)) {
      wildcard = at;
      resume = next;
      at += 1;
    } else if (part !== undefined && isMatch(part, text[next] as Element)) {
      at += 1;
      next += 1;
    } else if (wildcard >= 0) {
      resume += 1;
      next = resume;
      at = wildcard + 1;
    } else return false;
  }
  while (at < pattern.length && isWildcard(pattern[at] as Part)) at += 1;
  return at === pattern.length;
}
