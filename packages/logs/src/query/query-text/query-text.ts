import type { KeptState, LogFilters } from "../log-query.schema.ts";
import { durationLimits } from "../log-search.ts";
import { keptValues, maxSearch, type QueryKey, queryKeys } from "./query-parts.ts";
import { type Problem, type Token, tokensOf } from "./tokens.ts";

export { tokensOf } from "./tokens.ts";

export type ParsedQuery = { readonly filters: LogFilters; readonly problems: readonly Problem[] };

const noFilters: LogFilters = { status: "all", methodType: "all" };
export const statusValues = ["ok", "error", "failed", "refused"] as const;
const maxLengths: Readonly<Record<QueryKey, number>> = {
  tool: 507,
  prompt: 1024,
  resource: 1024,
  method: 512,
  status: 16,
  client: 256,
  user: 256,
  session: 128,
  deployment: 64,
  branch: 250,
  duration: 16,
  kept: 16,
};
/**
 * Parses the text of a request-log filter: `tool:echo status:error client:"My client" some text`. All words without a
 * key form one search. The filters are usable only without problems.
 */
export function parseQueryText(text: string): ParsedQuery {
  const { tokens, problems: unread } = tokensOf(text);
  const problems = [...unread];
  const filters: LogFilters = { ...noFilters };
  const seen = new Map<QueryKey, Token>();
  const terms: string[] = [];
  for (const token of tokens) {
    if (token.key === null) {
      terms.push(token.value);
      continue;
    }
    const key = queryKeys.find((each) => each === token.key?.toLowerCase());
    const problem = key ? problemOf(key, token, seen) : unknownKey(token.key);
    if (problem !== null) problems.push({ from: token.from, to: token.to, text: problem });
    else if (key) Object.assign(filters, filterOf(key, token.value));
    if (key) seen.set(key, token);
  }
  const search = terms.filter((term) => term !== "").join(" ");
  if (search.length > maxSearch)
    problems.push({ from: 0, to: text.length, text: `Search for at most ${maxSearch} characters.` });
  if (search !== "") filters.search = search;
  return { filters, problems };
}

const examples: Readonly<Record<QueryKey, string>> = {
  tool: "tool:echo",
  prompt: "prompt:greet",
  resource: "resource:notes://1",
  method: "method:tools/call or method:resources/*",
  status: "status:error",
  duration: "duration:>500 or duration:<1.5s",
  kept: "kept:waiting",
  client: "client:cursor",
  user: "user:ada@example.com",
  session: "session:8f2c…",
  deployment: "deployment:1a2b3c4",
  branch: "branch:main",
};
const ofMethods: readonly QueryKey[] = ["tool", "prompt", "resource", "method"];

/** Why a key with its value can't be used; null if it can. */
function problemOf(key: QueryKey, { value }: Token, seen: ReadonlyMap<QueryKey, Token>): string | null {
  if (value === "") return `${key}: needs a value, such as ${examples[key]}.`;
  if (value.length > maxLengths[key]) return `${key}: takes at most ${maxLengths[key]} characters.`;
  if (seen.has(key)) return `${key}: appears twice. Keep one of them.`;
  const other = ofMethods.includes(key) ? ofMethods.find((each) => each !== key && seen.has(each)) : undefined;
  if (other) return `${other}: and ${key}: can't be combined: each message has one method. Keep one of them.`;
  if (key === "status" && !statusValues.some((each) => each === value.toLowerCase()))
    return `status: is ok, error, failed or refused, not “${value}”.`;
  if (key === "kept" && !keptValues.some((each) => each === value.toLowerCase()))
    return `kept: is ${keptValues.slice(0, -1).join(", ")} or ${keptValues.at(-1)}, not “${value}”.`;
  if (key === "duration" && durationLimits(value) === null)
    return `duration: is more or less than a time, such as ${examples.duration}, not “${value}”.`;
  return null;
}

function unknownKey(key: string): string {
  const near = queryKeys.find((each) => isNear(key.toLowerCase(), each));
  const advice = near ? `Did you mean ${near}:?` : `Use ${queryKeys.map((each) => `${each}:`).join(" ")}`;
  return `There is no ${key}: filter. ${advice} To search for that text, put it in quotes.`;
}

/** Whether the texts differ by one letter, or one begins with the other. */
function isNear(typed: string, known: string): boolean {
  if (typed.length > 1 && (known.startsWith(typed) || typed.startsWith(known))) return true;
  if (Math.abs(typed.length - known.length) > 1) return false;
  let at = 0;
  while (at < typed.length && typed[at] === known[at]) at++;
  const rests = [known.slice(at), known.slice(at + 1)];
  return rests.includes(typed.slice(at + 1)) || typed.slice(at) === known.slice(at + 1);
}

function filterOf(key: QueryKey, value: string): Partial<LogFilters> {
  switch (key) {
    case "tool":
      return { methodType: `tool:${value}` };
    case "prompt":
      return { methodType: "prompts/get", target: value };
    case "resource":
      return { methodType: "resources/read", target: value };
    case "method":
      return { methodType: value };
    case "status":
      return { status: value.toLowerCase() as LogFilters["status"] };
    case "kept":
      return { kept: value.toLowerCase() as KeptState };
    default:
      return { [key]: value };
  }
}
