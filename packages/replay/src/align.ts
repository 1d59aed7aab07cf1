import { canonical, isEqual, isList, isObject } from "./bound.ts";
import { tokensOf } from "./text.ts";
import type { JsonValue } from "./types.ts";

export interface Alignment {
  /** Indexes of items that correspond, in the order of the second list. */
  readonly pairs: readonly (readonly [number, number])[];
  readonly onlyFirst: readonly number[];
  readonly onlySecond: readonly number[];
  /** Whether items that both have are in another order. */
  readonly isReordered: boolean;
}

type Key = (item: JsonValue, index: number) => string;

/**
 * Which items of two lists correspond: by a field that identifies them, such as an id, where both lists share most of its
 * values; else by equality; else by place.
 */
export function align(first: readonly JsonValue[], second: readonly JsonValue[]): Alignment {
  if (first.length === second.length && isEqual(first, second)) return byPlace(first, second);
  const [key, shared] = keyOf(first, second);
  if (shared === 0) return byPlace(first, second);
  const places = new Map<string, number[]>();
  for (const [index, item] of first.entries()) {
    const text = key(item, index);
    places.set(text, [...(places.get(text) ?? []), index]);
  }
  const pairs: [number, number][] = [];
  const onlySecond: number[] = [];
  for (const [index, item] of second.entries()) {
    const found = places.get(key(item, index))?.shift();
    if (found === undefined) onlySecond.push(index);
    else pairs.push([found, index]);
  }
  const isReordered = pairs.some(([place], at) => at > 0 && place < (pairs[at - 1]?.[0] ?? 0));
  return { pairs, onlyFirst: [...places.values()].flat().sort((a, b) => a - b), onlySecond, isReordered };
}

function byPlace(first: readonly JsonValue[], second: readonly JsonValue[]): Alignment {
  const length = Math.min(first.length, second.length);
  const rest = (list: readonly JsonValue[]) => list.map((_, index) => index).slice(length);
  const pairs = Array.from({ length }, (_, index) => [index, index] as const);
  return { pairs, onlyFirst: rest(first), onlySecond: rest(second), isReordered: false };
}

/** The share of values that the shorter list must have in common with the other to identify items by them. */
const enough = 0.5;
/** A better name of a field wins over a larger share above this. */
const clear = 0.8;

function keyOf(first: readonly JsonValue[], second: readonly JsonValue[]): [Key, number] {
  const candidates = [...fieldKeys(first, second), canonical, template];
  let best: [Key, number] = [canonical, 0];
  for (const key of candidates) {
    const share = sharedBy(key, first, second);
    if (share >= clear) return [key, share];
    if (share >= enough && share > best[1]) best = [key, share];
  }
  return best;
}

const template: Key = (item) => tokensOf(canonical(item)).template;

const names = /^(_?id|uuid|key|code|slug|name|number|path|title|sku|symbol|.*_id|.*Id)$/;

/** Fields whose values are unique in both lists, those with the name of an identifier first. */
function fieldKeys(first: readonly JsonValue[], second: readonly JsonValue[]): Key[] {
  const sample = first[0];
  if (!isObject(sample)) return [];
  const rank = (field: string) => (names.test(field) ? 0 : typeof sample[field] === "string" ? 1 : 2);
  return Object.keys(sample)
    .filter((field) => ["string", "number"].includes(typeof sample[field]))
    .filter((field) => [first, second].every((list) => isUnique(list, field)))
    .sort((one, other) => rank(one) - rank(other))
    .map((field) => (item: JsonValue) => (isObject(item) ? canonical(item[field]) : canonical(item)));
}

function isUnique(list: readonly JsonValue[], field: string): boolean {
  const values = list.map((item) => (isObject(item) && !isList(item) ? canonical(item[field]) : ""));
  return new Set(values).size === values.length;
}

function sharedBy(key: Key, first: readonly JsonValue[], second: readonly JsonValue[]): number {
  const shorter = Math.min(first.length, second.length);
  if (shorter === 0) return 0;
  const counts = new Map<string, number>();
  for (const [index, item] of first.entries()) {
    const text = key(item, index);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  let shared = 0;
  for (const [index, item] of second.entries()) {
    const text = key(item, index);
    const left = counts.get(text) ?? 0;
    if (left > 0) shared += 1;
    counts.set(text, left - 1);
  }
  return shared / shorter;
}
