import type { Manifest } from "./manifest.ts";

type SurfaceKind = "tool" | "resource" | "template" | "prompt";

/** One item that changed for callers. */
export type SurfaceChange = {
  readonly kind: SurfaceKind;
  /** Its name, or for a resource and a template its URI: the name that callers use. */
  readonly name: string;
  readonly change: "added" | "removed" | "changed";
  /** Whether a call that worked before may fail now. */
  readonly breaking: boolean;
  /** Its differences, each in a few words; empty unless it changed. */
  readonly details: readonly string[];
};

type Tool = Manifest["tools"][number];
type Prompt = Manifest["prompts"][number];

/** The changes of a manifest for callers of the server, in its later order; then removed items (BLD-14). */
export function compareManifests(before: Manifest, after: Manifest): readonly SurfaceChange[] {
  return [
    ...compareItems("tool", (each) => each.tool_name, toolChanges, before.tools, after.tools),
    ...compareItems("resource", (each) => each.uri, resourceChanges, before.resources, after.resources),
    ...compareItems("template", (each) => each.uriTemplate, resourceChanges, before.templates, after.templates),
    ...compareItems("prompt", (each) => each.prompt_name, promptChanges, before.prompts, after.prompts),
  ];
}

type Differences = { readonly details: readonly string[]; readonly breaking: boolean };

function compareItems<Item>(
  kind: SurfaceKind,
  nameOf: (item: Item) => string,
  compare: (before: Item, after: Item) => Differences,
  before: readonly Item[],
  after: readonly Item[],
): readonly SurfaceChange[] {
  const earlier = new Map(before.map((item) => [nameOf(item), item]));
  const later = new Set(after.map(nameOf));
  const present = after.flatMap((item): SurfaceChange[] => {
    const name = nameOf(item);
    const old = earlier.get(name);
    if (old === undefined) return [{ kind, name, change: "added", breaking: false, details: [] }];
    const found = compare(old, item);
    return found.details.length === 0 ? [] : [{ kind, name, change: "changed", ...found }];
  });
  const removed = [...earlier.keys()]
    .filter((name) => !later.has(name))
    .map((name): SurfaceChange => ({ kind, name, change: "removed", breaking: true, details: [] }));
  return [...present, ...removed];
}

function toolChanges(before: Tool, after: Tool): Differences {
  const input = argumentChanges(argumentsOf(before.inputSchema), argumentsOf(after.inputSchema));
  const others = !same(withoutArguments(before.inputSchema), withoutArguments(after.inputSchema));
  const details = [
    ...input.details,
    ...(others ? ["other rules of the input"] : []),
    ...differing(before, after, { outputSchema: "another output", annotations: "other annotations", ...texts }),
  ];
  return { details, breaking: input.breaking };
}

const texts = { title: "another title", description: "another description" };

function resourceChanges(before: Manifest["resources"][number] | Manifest["templates"][number], after: typeof before) {
  return { details: differing(before, after, { mimeType: "another MIME type", ...texts }), breaking: false };
}

function promptChanges(before: Prompt, after: Prompt): Differences {
  const byName = (prompt: Prompt): Arguments =>
    new Map(prompt.arguments.map(({ name, required, description }) => [name, { required, schema: { description } }]));
  const input = argumentChanges(byName(before), byName(after));
  return { details: [...input.details, ...differing(before, after, texts)], breaking: input.breaking };
}

type Arguments = ReadonlyMap<string, { readonly required: boolean; readonly schema: unknown }>;

function argumentsOf(schema: Tool["inputSchema"]): Arguments {
  const { properties, required } = schema;
  const names = Array.isArray(required) ? required : [];
  const entries = typeof properties === "object" && properties !== null ? Object.entries(properties) : [];
  return new Map(entries.map(([name, each]) => [name, { required: names.includes(name), schema: each }]));
}

const withoutArguments = ({ properties: _properties, required: _required, ...rest }: Tool["inputSchema"]) => rest;

function argumentChanges(before: Arguments, after: Arguments): Differences {
  const details: string[] = [];
  let breaking = false;
  const add = (text: string, breaks: boolean) => {
    details.push(text);
    breaking ||= breaks;
  };
  for (const [name, now] of after) {
    const then = before.get(name);
    if (then === undefined) add(now.required ? `${name} is new and required` : `${name} is new`, now.required);
    else if (now.required !== then.required) add(`${name} is ${now.required ? "required" : "optional"}`, now.required);
    else if (!same(typeOf(then.schema), typeOf(now.schema))) add(`${name} has another type`, true);
    else if (!same(then.schema, now.schema)) add(`${name} is described differently`, false);
  }
  for (const name of before.keys()) if (!after.has(name)) add(`${name} is gone`, true);
  return { details, breaking };
}

/** An argument's schema without its descriptive fields. */
function typeOf(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const {
    title: _title,
    description: _description,
    default: _default,
    examples: _examples,
    ...rest
  } = schema as Record<string, unknown>;
  return rest;
}

function differing<Item extends object>(
  before: Item,
  after: Item,
  fields: Readonly<Record<string, string>>,
): readonly string[] {
  const read = (item: Item, key: string): unknown => (item as Record<string, unknown>)[key] ?? null;
  return Object.entries(fields).flatMap(([key, word]) => (same(read(before, key), read(after, key)) ? [] : [word]));
}

/** Equality of JSON, regardless of the order of an object's members. */
function same(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => key in right && same(left[key], right[key]));
}
