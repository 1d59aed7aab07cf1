import { canonical, isList, isObject } from "./bound.ts";
import type { CandidateCall, JsonValue } from "./types.ts";

/**
 * A sample of at most `limit` calls: tools take turns, within each the shapes of arguments take turns, newest first. Of calls
 * with equal arguments only the newest is used.
 */
export function chooseCalls<Call extends CandidateCall>(candidates: readonly Call[], limit: number): Call[] {
  const newest = candidates.toSorted((one, other) => other.at - one.at);
  const distinct = new Map<string, Call>();
  for (const call of newest) {
    const key = JSON.stringify([call.tool, canonical(call.arguments)]);
    if (!distinct.has(key)) distinct.set(key, call);
  }
  const tools = groupsOf([...distinct.values()], ({ tool }) => tool);
  const turns = tools.map((calls) => inTurns(groupsOf(calls, (call) => shapeOf(call.arguments))));
  return inTurns(turns).slice(0, Math.max(0, limit));
}

const groupsOf = <Item>(items: readonly Item[], key: (item: Item) => string): Item[][] => [
  ...Map.groupBy(items, key).values(),
];

/** The first of each group, then the second of each. */
function inTurns<Item>(groups: readonly (readonly Item[])[]): Item[] {
  const longest = groups.reduce((most, each) => Math.max(most, each.length), 0);
  return Array.from({ length: longest }, (_, at) => groups.flatMap((group) => group.slice(at, at + 1))).flat();
}

/** Names and types of arguments; of flags also their value, which often takes another way through the code. */
function shapeOf(value: JsonValue): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (isList(value)) return `[${[...new Set(value.slice(0, 100).map(shapeOf))].sort().join()}]`;
  if (!isObject(value)) return typeof value;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${key}:${shapeOf(value[key] ?? null)}`).join()}}`;
}
