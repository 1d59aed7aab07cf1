import type { RJSFSchema } from "@rjsf/utils";

/** Why a schema gets the plain JSON editor instead of a form. */
type PreparedSchema =
  | { readonly ok: true; readonly schema: RJSFSchema }
  | { readonly ok: false; readonly reason: string };

/** A tool's schema is untrusted: it may be huge, deep, recursive or built to stall a validator. */
const limits = { characters: 65_536, depth: 16, nodes: 2_000 };

/**
 * Left out: patterns, because an untrusted regular expression can stall the page; identifiers and dynamic references,
 * which only point elsewhere; content keywords, which ask for file or HTML widgets. The server validates its arguments
 * anyway.
 */
const droppedKeywords = new Set([
  "pattern",
  "patternProperties",
  "propertyNames",
  "$id",
  "id",
  "$schema",
  "$anchor",
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$recursiveAnchor",
  "$vocabulary",
  "$comment",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contentMediaType",
  "contentEncoding",
  "contentSchema",
  "examples",
]);
const unsafeNames = new Set(["__proto__", "constructor", "prototype"]);
const safeFormats = new Set(["date", "date-time", "time", "email", "uri", "uuid", "password"]);
/** Keywords whose value is a map of names to schemas. */
const mapKeywords = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose value is data, not a schema. */
const dataKeywords = new Set(["default", "const", "enum", "required", "type"]);

class Unsuitable extends Error {}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Copies a tool's input schema into one that is safe to generate a form from, or says why it can't (PRJ-4). */
export function prepareSchema(raw: unknown): PreparedSchema {
  try {
    if (!isObject(raw)) throw new Unsuitable("the schema is not an object");
    if (JSON.stringify(raw).length > limits.characters) throw new Unsuitable("the schema is larger than 64 kB");
    const schema = new Cleaner().schema(raw, 0, false) as Json;
    if (schema.type !== undefined && schema.type !== "object") throw new Unsuitable("the arguments are not an object");
    refuseCycles(schema);
    return { ok: true, schema: { ...schema, type: "object" } as RJSFSchema };
  } catch (error) {
    if (error instanceof Unsuitable) return { ok: false, reason: error.message };
    return { ok: false, reason: "the schema cannot be read" };
  }
}

/** Keywords that don't define any arguments. */
const neutralKeywords = new Set(["type", "title", "description", "default", "$defs", "definitions"]);

/** Whether a tool takes no arguments at all. False for a schema that allows additional properties. */
export function takesNoArguments(schema: RJSFSchema): boolean {
  return Object.entries(schema).every(([keyword, part]) => {
    if (neutralKeywords.has(keyword)) return true;
    if (keyword === "additionalProperties") return part === false;
    if (keyword === "properties") return isObject(part) && Object.keys(part).length === 0;
    return keyword === "required" && Array.isArray(part) && part.length === 0;
  });
}

class Cleaner {
  private nodes = 0;

  schema(value: unknown, depth: number, optional: boolean): unknown {
    if (typeof value === "boolean") return value;
    if (!isObject(value)) throw new Unsuitable("a part of the schema is not an object");
    this.count(depth);
    const source = constantsAsEnum(optional ? withoutNull(value) : value);
    const required = Array.isArray(source.required) ? source.required : [];
    const result: Json = {};
    for (const [keyword, part] of Object.entries(source)) {
      if (droppedKeywords.has(keyword) || keyword.startsWith("ui:") || keyword.startsWith("x-")) continue;
      if (keyword === "format" && !safeFormats.has(String(part))) continue;
      if (keyword === "$ref") result.$ref = localReference(part);
      else if (mapKeywords.has(keyword)) result[keyword] = this.map(keyword, part, depth, required);
      else result[keyword] = dataKeywords.has(keyword) ? part : this.part(part, depth);
    }
    return result;
  }

  private map(keyword: string, value: unknown, depth: number, required: readonly unknown[]): Json {
    if (!isObject(value)) throw new Unsuitable(`${keyword} is not an object`);
    const result: Json = {};
    for (const name of requiredFirst(Object.keys(value), required)) {
      if (unsafeNames.has(name)) throw new Unsuitable(`a property is called ${name}`);
      const schema = this.schema(value[name], depth + 1, keyword === "properties" && !required.includes(name));
      // An empty schema gets a title, because the form leaves out a field without any keyword.
      result[name] = isObject(schema) && Object.keys(schema).length === 0 ? { title: name } : schema;
    }
    return result;
  }

  private part(value: unknown, depth: number): unknown {
    if (Array.isArray(value)) return value.map((each) => this.part(each, depth + 1));
    return isObject(value) ? this.schema(value, depth + 1, false) : value;
  }

  private count(depth: number): void {
    this.nodes += 1;
    if (depth > limits.depth) throw new Unsuitable(`the schema is nested deeper than ${limits.depth} levels`);
    if (this.nodes > limits.nodes) throw new Unsuitable(`the schema has more than ${limits.nodes} parts`);
  }
}

/** Required properties first, in the order of `required`: the stored manifest doesn't keep the order of keys. */
function requiredFirst(names: readonly string[], required: readonly unknown[]): string[] {
  const inOrder = required.filter((name): name is string => typeof name === "string" && names.includes(name));
  return [...new Set([...inOrder, ...names])];
}

/** Python writes an optional argument as "X or null, default null". An empty field means the same. */
function withoutNull(schema: Json): Json {
  if (!Array.isArray(schema.anyOf)) return schema;
  const others = schema.anyOf.filter((option) => !(isObject(option) && option.type === "null"));
  if (others.length === schema.anyOf.length || others.length === 0) return schema;
  const { anyOf: _anyOf, default: fallback, ...rest } = schema;
  const kept = fallback === null || fallback === undefined ? rest : { ...rest, default: fallback };
  return others.length === 1 && isObject(others[0]) ? { ...others[0], ...kept } : { ...kept, anyOf: others };
}

/** Turns a choice of constants into an enumeration, which has a control. */
function constantsAsEnum(schema: Json): Json {
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const options = schema[keyword];
    if (!Array.isArray(options) || options.length === 0) continue;
    if (!options.every((option) => isObject(option) && "const" in option)) continue;
    const { [keyword]: _options, ...rest } = schema;
    return { ...rest, enum: options.map((option: Json) => option.const) };
  }
  return schema;
}

function localReference(value: unknown): string {
  if (typeof value === "string" && /^#\/(\$defs|definitions)\/[^/]+$/.test(value)) return value;
  throw new Unsuitable("the schema refers to something outside its definitions");
}

/** A definition that contains itself would make an infinite form. */
function refuseCycles(root: Json): void {
  const done = new Set<string>();
  const visit = (value: unknown, path: readonly string[]): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, path);
    if (!isObject(value)) return;
    for (const [keyword, part] of Object.entries(value)) {
      if (keyword !== "$ref" || typeof part !== "string") visit(part, path);
      else if (path.includes(part)) throw new Unsuitable("the schema contains itself");
      else if (!done.has(part)) {
        visit(resolve(root, part), [...path, part]);
        done.add(part);
      }
    }
  };
  const { $defs: _defs, definitions: _definitions, ...body } = root;
  visit(body, []);
}

function resolve(root: Json, reference: string): unknown {
  const [, group = "", name = ""] = reference.split("/");
  const definitions = root[group];
  const found = isObject(definitions) ? definitions[name.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  if (found === undefined) throw new Unsuitable(`the schema refers to ${name}, which it does not define`);
  return found;
}
