import { TowpathError } from "@towpath/core/errors";

/** The parts of a JSON Schema that define fields. */
export type FieldSchema = {
  readonly type?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: boolean | FieldSchema;
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly oneOf?: readonly FieldSchema[];
};

type Unknown = { readonly path: string; readonly name: string; readonly known: readonly string[] };

const maxNamed = 20;
const maxNameLength = 64;

/**
 * Refuses fields that an operation doesn't know: they would have no effect, and often are typos.
 *
 * @throws TowpathError `unknown_field` that names all such fields, with a text for each path in `fields`
 */
export function refuseUnknown(what: "field" | "parameter", schema: FieldSchema, value: unknown): void {
  const found = unknownFields(schema, value);
  if (found.length === 0) return;
  const named = found.slice(0, maxNamed).map((each) => ({ ...each, near: nearest(each.name, each.known) }));
  const texts = named.map(({ path, near }) => quoted(path) + (near === null ? "" : ` (did you mean "${near}"?)`));
  const more = found.length > maxNamed ? [`and ${found.length - maxNamed} more`] : [];
  const message = `Unknown ${what}${found.length > 1 ? "s" : ""}: ${[...texts, ...more].join(", ")}.`;
  const fields = named.map(({ path, near, known }) => [
    clipped(path),
    near === null ? knownText(known) : `Did you mean "${near}"?`,
  ]);
  throw new TowpathError("unknown_field", message, { fields: Object.fromEntries(fields) });
}

/**
 * Refuses repeated parameters: only one of their values would count.
 *
 * @throws TowpathError `unknown_field` that names them
 */
export function refuseRepeated(search: URLSearchParams): void {
  const names = [...new Set(search.keys())].filter((name) => search.getAll(name).length > 1).slice(0, maxNamed);
  if (names.length === 0) return;
  const message = `Given more than once: ${names.map(quoted).join(", ")}.`;
  const fields = names.map((name) => [clipped(name), "Give it once."]);
  throw new TowpathError("unknown_field", message, { fields: Object.fromEntries(fields) });
}

const clipped = (text: string) => (text.length > maxNameLength ? `${text.slice(0, maxNameLength)}…` : text);
const quoted = (path: string) => JSON.stringify(clipped(path));
const knownText = (known: readonly string[]) =>
  known.length === 0 ? "There are none." : `There are: ${known.join(", ")}.`;

/** The fields of a value that its schema doesn't have, at any depth. */
function unknownFields(schema: FieldSchema, value: unknown, at = ""): readonly Unknown[] {
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    const found = options.filter((each) => fits(each, value)).map((each) => unknownFields(each, value, at));
    // The option that was most likely meant.
    return found.toSorted((one, other) => one.length - other.length)[0] ?? [];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((each, index) => unknownFields(items, each, `${at}${index}.`)) : [];
  }
  if (typeof value !== "object" || value === null) return [];
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(value).flatMap(([name, field]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own) return unknownFields(own, field, `${at}${name}.`);
    if (additionalProperties === false) return [{ path: at + name, name, known: Object.keys(properties) }];
    return typeof additionalProperties === "object" ? unknownFields(additionalProperties, field, `${at}${name}.`) : [];
  });
}

function fits({ type, properties = {} }: FieldSchema, value: unknown): boolean {
  if (type === undefined) return true;
  if (type !== (Array.isArray(value) ? "array" : value === null ? "null" : typeof value)) return false;
  // The variant of a union that its discriminator names.
  const given = new Map(type === "object" ? Object.entries(value as object) : []);
  return Object.entries(properties).every(
    ([name, field]) => field.const === undefined || !given.has(name) || given.get(name) === field.const,
  );
}

/** The known name closest to a name, such as `entrypoint` for `entrypont` or `keyName` for `key_name`. */
function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > maxNameLength) return null;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const typed = plain(name);
  const distances = known.map((each) => ({ each, distance: editDistance(typed, plain(each)) }));
  const [best] = distances.toSorted((one, other) => one.distance - other.distance);
  return best && best.distance <= Math.floor(best.each.length / 4) ? best.each : null;
}

/** Number of letters to insert, delete, replace, or swap with the next one, to turn one text into the other. */
function editDistance(one: string, other: string): number {
  let [before, row] = [[] as number[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced;
      next[j] = Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
