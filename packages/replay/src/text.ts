type TokenKind = "time" | "clock" | "date" | "id" | "address" | "duration" | "epoch" | "number";

/** A part of a text that may differ. `value`: of numbers, and of times in seconds since 1970; NaN for what has none. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly value: number;
}

/** A text with what may differ taken out: texts of one template have tokens of the same kinds in the same places. */
export interface Tokens {
  readonly template: string;
  readonly tokens: readonly Token[];
}

/**
 * What a process makes in a folder for temporary files: the name below it, and names below that which end in six to eight
 * characters, like those of mkdtemp: after a prefix, or not in small letters alone.
 */
const temporary = String.raw`(?<=(?<![\w.-])/(?:tmp|var/tmp|dev/shm)/)[\w.-]+(?:/(?:(?:[\w.-]+-|tmp)\w{6,8}|(?=[a-z]*[A-Z\d_])\w{6,8})(?![\w.-]))*`;

const patterns: readonly (readonly [string, TokenKind, string])[] = [
  ["iso", "time", String.raw`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`],
  ["http", "time", String.raw`\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [A-Z]{3}`],
  ["date", "date", String.raw`\b\d{4}-\d\d-\d\d\b`],
  ["uuid", "id", String.raw`\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b`],
  ["memory", "address", String.raw`\b0x[0-9a-fA-F]{6,16}\b`],
  ["port", "address", String.raw`(?<=\b(?:localhost|127\.0\.0\.1|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):)\d{2,5}\b`],
  ["temporary", "address", temporary],
  ["process", "address", String.raw`(?<=\b(?:pid|PID)[ =:]{1,2})\d+\b`],
  ["line", "address", String.raw`(?<=", line )\d+\b`],
  ["pydantic", "address", String.raw`(?<=errors\.pydantic\.dev/)[\d.]+`],
  ["hex", "id", String.raw`(?<![0-9a-zA-Z])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,128}(?![0-9a-zA-Z])`],
  ["mixed", "id", String.raw`(?<![0-9a-zA-Z])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[0-9A-Za-z]{12,64}(?![0-9a-zA-Z])`],
  ["clock", "clock", String.raw`\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b`],
  ["duration", "duration", String.raw`\b\d+(?:\.\d+)? ?(?:ms|µs|us|ns)\b`],
  ["millis", "epoch", String.raw`\b1[5-9]\d{11}\b`],
  ["seconds", "epoch", String.raw`\b1[5-9]\d{8}(?:\.\d+)?\b`],
  ["number", "number", String.raw`(?:(?<![\w.-])-)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?`],
];
const kinds = new Map(patterns.map(([name, kind]) => [name, kind]));
export const tokenPattern: RegExp = new RegExp(
  patterns.map(([name, , source]) => `(?<${name}>${source})`).join("|"),
  "g",
);

/** Texts beyond this are compared by their start and digest; tokens further on have no use. */
const longest = 8_000;

/** Takes out of a text what may differ from answer to answer: times, ids, addresses, durations and numbers. */
export function tokensOf(text: string): Tokens {
  // Each kind but one has a digit.
  if (!/\d|\/(?:tmp|shm)\//.test(text)) return { template: text, tokens: [] };
  const tokens: Token[] = [];
  const template = text.slice(0, longest).replace(tokenPattern, (match: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const name = Object.keys(groups).find((each) => groups[each] !== undefined) ?? "number";
    const kind = kinds.get(name) ?? "number";
    tokens.push({ kind, text: match, value: numberIn(name, match) });
    return `<${formOf(name, match)}>`;
  });
  return { template: text.length > longest ? template + text.slice(longest) : template, tokens };
}

/** What of a token must stay as it is: the form of a time, the length of an id, the unit of a duration. */
function formOf(name: string, text: string): string {
  if (name === "iso") {
    const zone = /(Z|[+-]\d\d:?\d\d)$/.exec(text.slice(11))?.[0] ?? "";
    const form = text
      .slice(10)
      .replace(zone, "")
      .replace(/[.,]\d+/, ".f")
      .replace(/\d/g, "9");
    return `time${form}${zone.replace(/\d/g, "9").replace("-", "+")}`;
  }
  if (name === "hex" || name === "mixed") return `${name}${text.length}`;
  if (name === "duration") return `duration ${text.replace(/[\d. ]/g, "")}`;
  return name;
}

function numberIn(name: string, text: string): number {
  if (name === "iso") return Date.parse(text.replace(" ", "T").replace(",", ".") + zoneUnlessGiven(text)) / 1000;
  if (name === "http") return Date.parse(text) / 1000;
  if (name === "millis") return Number(text) / 1000;
  if (name === "seconds") return Number(text);
  return name === "number" ? Number(text.replaceAll(",", "")) : Number.NaN;
}

const zoneUnlessGiven = (text: string) => (/(Z|[+-]\d\d:?\d\d)$/.test(text.slice(11)) ? "" : "Z");

/** Whether a number is the time of recent years: in seconds, in milliseconds, or neither. */
export function epochOf(value: number): "seconds" | "millis" | null {
  if (value >= 1.5e9 && value < 2e9) return "seconds";
  return value >= 1.5e12 && value < 2e12 ? "millis" : null;
}

/** Whether a time has seconds, as those of a process have and those of appointments rarely. */
export const isPrecise = (token: Token) => Number.isFinite(token.value) && token.value % 60 !== 0;
