import { TowpathError } from "@towpath/core/errors";
import type { Refs } from "./state.ts";

/** A ref's value before and after; null: it doesn't exist. */
type RefChange = { readonly name: string; readonly before: string | null; readonly after: string | null };

const targetOf = (refs: Refs, name: string): string | null => (Object.hasOwn(refs, name) ? (refs[name] ?? null) : null);

export function changedRefs(before: Refs, after: Refs): readonly RefChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .map((name) => ({ name, before: targetOf(before, name), after: targetOf(after, name) }))
    .filter((change) => change.before !== change.after);
}

/**
 * Applies changes to refs that may have changed meanwhile.
 *
 * @throws TowpathError `conflict` if one of the refs no longer has its value before, or if one name has become a prefix
 * of another (git stores each as a path)
 */
export function mergeRefs(current: Refs, changes: readonly RefChange[]): Refs {
  const moved = changes.find(({ name, before }) => targetOf(current, name) !== before);
  if (moved) {
    const name = moved.name.replace(/^refs\/(heads|tags)\//, "");
    throw new TowpathError("conflict", `Somebody else pushed to ${name} at the same time. Fetch, then try again.`);
  }
  const gone = new Set(changes.filter(({ after }) => after === null).map(({ name }) => name));
  const merged: Refs = Object.fromEntries([
    ...Object.entries(current).filter(([name]) => !gone.has(name)),
    ...changes.flatMap(({ name, after }) => (after === null ? [] : [[name, after] as const])),
  ]);
  const names = Object.keys(merged);
  const parts = new Set(names.flatMap((name) => [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index))));
  const nested = names.find((name) => parts.has(name));
  if (nested === undefined) return merged;
  const message = `Somebody else pushed at the same time, and the name ${nested.replace(/^refs\/heads\//, "")} is a part of another branch's. Choose another name.`;
  throw new TowpathError("conflict", message);
}
