import type { ValidatorAdapter } from "@tanstack/react-router";

// Search parameters are read by hand, not with zod: every route's reader is part of the first script that a visitor
// loads, and zod alone is a fifth of it. A value that a reader doesn't know counts as not given: links outlive versions.

type Reader<Value> = (value: unknown) => Value;
type Readers = Readonly<Record<string, Reader<unknown>>>;

type OptionalKeys<R extends Readers> = {
  [Key in keyof R]: undefined extends ReturnType<R[Key]> ? Key : never;
}[keyof R];
type Flat<T> = { [Key in keyof T]: T[Key] };

/** What `searchParameters` of these readers gives: keys whose reader may give nothing are optional. */
export type SearchOf<R extends Readers> = Flat<
  { [Key in Exclude<keyof R, OptionalKeys<R>>]: ReturnType<R[Key]> } & {
    [Key in OptionalKeys<R>]?: ReturnType<R[Key]>;
  }
>;

type LinkOf<R extends Readers> = Flat<{ [Key in keyof R]?: ReturnType<R[Key]> | undefined }>;

/** For `validateSearch`: one reader for each parameter, others are dropped. Links may leave out all of them. */
export function searchParameters<const R extends Readers>(readers: R): ValidatorAdapter<LinkOf<R>, SearchOf<R>> {
  return {
    parse: (input) => {
      const given: Readonly<Record<string, unknown>> = { ...(typeof input === "object" ? input : null) };
      const read = Object.entries(readers).map(([key, reader]) => [key, reader(given[key])] as const);
      // A faulty one is set to undefined: the router puts this result over what the address says.
      return Object.fromEntries(read.filter(([key, value]) => value !== undefined || key in given)) as SearchOf<R>;
    },
    // Only for the compiler, as the router declares it.
    types: {} as { input: LinkOf<R>; output: SearchOf<R> },
  };
}

/** Text of at most `max` characters. The router reads `?q=7` as a number: that is text here as well. */
export const text =
  (max: number): Reader<string | undefined> =>
  (value) => {
    const given = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
    return typeof given === "string" && given.length <= max ? given : undefined;
  };

/** `true` or `false`. */
export const flag: Reader<boolean | undefined> = (value) => (typeof value === "boolean" ? value : undefined);

/** A whole number above zero, as ids of GitHub are. */
export const positiveInteger: Reader<number | undefined> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;

/** One of `values`. */
export const oneOf =
  <const Value extends string>(values: readonly Value[]): Reader<Value | undefined> =>
  (value) =>
    values.find((known) => known === value);

/** An id of ours. */
export const uuid: Reader<string | undefined> = (value) =>
  typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? value : undefined;

/** Texts, each read by `reader`; those that it does not know and repetitions are left out. */
export const listOf =
  <Item>(reader: Reader<Item | undefined>, max: number): Reader<readonly Item[] | undefined> =>
  (value) => {
    if (!Array.isArray(value)) return undefined;
    const items = value.slice(0, max).flatMap((each) => reader(each) ?? []);
    return [...new Set(items as Item[])];
  };

/** `reader`, with a value for what is not given. */
export const withDefault =
  <Value>(reader: Reader<Value | undefined>, value: NoInfer<Value>): Reader<Value> =>
  (given) =>
    reader(given) ?? value;
