import type { JsonObject, JsonValue } from "./types.ts";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isList = (value: unknown): value is readonly JsonValue[] => Array.isArray(value);

/** A text of at most `length` characters. */
export const cut = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);

/** JSON with keys in alphabetical order, so that equal values have equal texts. */
export function canonical(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  if (isList(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

/** Whether two values are the same, in any order of keys. */
export function isEqual(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === other) return true;
  if (isList(one))
    return isList(other) && one.length === other.length && one.every((each, at) => isEqual(each, other[at]));
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]))
  );
}

/** Functions here call themselves for what a value has in it. */
const deepestCompared = 500;

/** Whether a value has more levels than can be compared, such as `[[[[…]]]]`. Servers choose how many it has. */
export function isTooDeep(value: JsonValue): boolean {
  let level: readonly JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepestCompared) return true;
    level = level.flatMap((each) => (isList(each) ? each : isObject(each) ? Object.values(each) : []));
  }
  return false;
}

/** A short text that differs, nearly always, for values that differ (FNV-1a of 32 bits). */
const digestOf = (value: JsonValue) => (hashOf(value) >>> 0).toString(36);

const start = 0x811c9dc5;
const step = (hash: number, value: number) => Math.imul(hash ^ value, 0x01000193);

function hashOf(value: JsonValue): number {
  if (isList(value)) return value.reduce<number>((hash, each) => step(hash, hashOf(each)), step(start, 1));
  // The sum does not depend on the order of keys.
  if (isObject(value)) {
    return Object.keys(value).reduce((sum, key) => (sum + step(hashOf(key), hashOf(value[key] ?? null))) | 0, 2);
  }
  const text = typeof value === "string" ? value : `${value}`;
  let hash = step(start, typeof value === "string" ? 3 : 4);
  for (let at = 0; at < text.length; at += 1) hash = step(hash, text.charCodeAt(at));
  return hash;
}

const longestText = 4_000;
const deepest = 40;

/**
 * The value with about `budget` characters: long texts and the middle of long lists are replaced by their digest, so that a
 * change in them is still seen. Bounds memory, as answers may have MiBs.
 */
export function bounded(value: JsonValue, budget: number): JsonValue {
  const left = { characters: budget };
  return boundedWithin(value, left, 0);
}

function boundedWithin(value: JsonValue, left: { characters: number }, depth: number): JsonValue {
  if (typeof value === "string") {
    const kept = Math.max(0, Math.min(longestText, left.characters));
    left.characters -= Math.min(value.length, kept) + 2;
    if (value.length <= Math.max(kept, 100)) return value;
    return `${value.slice(0, kept)}… ${value.length} characters, digest ${digestOf(value)}.`;
  }
  if (!isList(value) && !isObject(value)) {
    left.characters -= 8;
    return value;
  }
  if (depth > deepest || left.characters <= 0) return `… digest ${digestOf(value)}.`;
  if (isList(value)) {
    const kept: JsonValue[] = [];
    for (const each of value) {
      if (left.characters <= 0) break;
      kept.push(boundedWithin(each, left, depth + 1));
    }
    const rest = value.slice(kept.length);
    if (rest.length > 0) kept.push(`… ${rest.length} more items, digest ${digestOf(rest)}.`);
    return kept;
  }
  const entries: [string, JsonValue][] = [];
  for (const [key, each] of Object.entries(value)) {
    left.characters -= key.length + 4;
    entries.push([key, boundedWithin(each, left, depth + 1)]);
  }
  return Object.fromEntries(entries);
}
