import type { ValidatorAdapter } from "@tanstack/react-router";

// Search parameters are parsed without zod: the parsers of all routes are part of the first script that a visitor loads,
// and zod alone would be a fifth of it. Invalid values count as missing, because links outlive versions.

type Reader<Value> = (value: unknown) => Value;
type Readers = Readonly<Record<string, Reader<unknown>>>;

type OptionalKeys<R extends Readers> = {
  [Key in keyof R]: undefined extends ReturnType<R[Key]> ? Key : never;
}[keyof R];
type Flat<T> = { [Key in keyof T]: T[Key] };

/** Result of `searchParameters` for these readers. Keys whose reader may return undefined are optional. */
export type SearchOf<R extends Readers> = Flat<
  { [Key in Exclude<keyof R, OptionalKeys<R>>]: ReturnType<R[Key]> } & {
    [Key in OptionalKeys<R>]?: ReturnType<R[Key]>;
  }
>;

type LinkOf<R extends Readers> = Flat<{ [Key in keyof R]?: ReturnType<R[Key]> | undefined }>;

/** For `validateSearch`: one reader per parameter. Other parameters are dropped; links may omit any of them. */
export function searchParameters<const R extends Readers>(readers: R): ValidatorAdapter<LinkOf<R>, SearchOf<R>> {
  return {
    parse: (input) => {
      const given: Readonly<Record<string, unknown>> = { ...(typeof input === "object" ? input : null) };
      const read = Object.entries(readers).map(([key, reader]) => [key, reader(given[key])] as const);
      // Set invalid ones to undefined: the router merges this result into the URL's parameters.
      return Object.fromEntries(read.filter(([key, value]) => value !== undefined || key in given)) as SearchOf<R>;
    },
    // The router uses this for types only.
    types: {} as { input: LinkOf<R>; output: SearchOf<R> },
  };
}

/** Text of at most `max` characters. Accepts numbers and booleans: the router parses `?q=7` as a number. */
export const text =
  (max: number): Reader<string | undefined> =>
  (value) => {
    const given = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
    return typeof given === "string" && given.length <= max ? given : undefined;
  };

/** By which column a list is sorted: its name, after a minus for descending. */
export const order: Reader<string | undefined> = (value) => text(60)(value) || undefined;

/** `true` or `false`. */
export const flag: Reader<boolean | undefined> = (value) => (typeof value === "boolean" ? value : undefined);

/** A whole number above zero, such as an id of GitHub. */
export const positiveInteger: Reader<number | undefined> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;

/** One of `values`. */
export const oneOf =
  <const Value extends string>(values: readonly Value[]): Reader<Value | undefined> =>
  (value) =>
    values.find((known) => known === value);

export const uuid: Reader<string | undefined> = (value) =>
  typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? value : undefined;

/** At most `max` items, each parsed by `reader`. Drops invalid items and duplicates. */
export const listOf =
  <Item>(reader: Reader<Item | undefined>, max: number): Reader<readonly Item[] | undefined> =>
  (value) => {
    if (!Array.isArray(value)) return undefined;
    const items = value.slice(0, max).flatMap((each) => reader(each) ?? []);
    return [...new Set(items as Item[])];
  };

/** `reader` with a default for a missing or invalid value. */
export const withDefault =
  <Value>(reader: Reader<Value | undefined>, value: NoInfer<Value>): Reader<Value> =>
  (given) =>
    reader(given) ?? value;
