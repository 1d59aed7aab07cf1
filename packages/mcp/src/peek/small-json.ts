import { container, type Fields, type FieldValue, type ShapeNode } from "./json-scanner.ts";

/** Up to this size `JSON.parse` is faster than scanning bytes, and its work is bounded well enough. */
export const smallBytes = 4096;

/**
 * The fields of each message in a small JSON text, as the scanner finds them. Null if it is no JSON; the scanner then
 * does what it can.
 */
export function parseSmall(bytes: Buffer, root: ShapeNode): { isBatch: boolean; messages: Fields[] } | null {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
  if (Array.isArray(value)) {
    return { isBatch: true, messages: value.filter(isObject).map((item) => fieldsOf(item, root)) };
  }
  return { isBatch: false, messages: isObject(value) ? [fieldsOf(value, root)] : [] };
}

function fieldsOf(value: Record<string, unknown>, root: ShapeNode): Fields {
  const fields: Record<string, FieldValue | undefined> = {};
  collect(value, root, fields);
  return fields;
}

function collect(
  value: Record<string, unknown>,
  node: ShapeNode,
  fields: Record<string, FieldValue | undefined>,
): void {
  // By the value's own members, which are few: looking for each member of the shape takes twice as long.
  for (const key in value) {
    const child = node.children?.get(key);
    if (child === undefined) continue;
    const inner = value[key];
    if (typeof inner !== "object" || inner === null) {
      fields[child.slot] = inner as string | number | boolean | null;
      continue;
    }
    fields[child.slot] = container;
    if (child.children && isObject(inner)) collect(inner, child, fields);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
