import type { Json } from "~/features/shared/project-screen/json.ts";
import { isObject } from "~/features/shared/project-screen/json.ts";
import type { Arguments } from "./form-arguments.ts";

/** An argument that takes one control. */
export type FlatField = {
  readonly name: string;
  /** As the tool's author wrote it. */
  readonly label: string;
  readonly description: string | null;
  readonly required: boolean;
  readonly schema: Json;
  readonly control: "text" | "date" | "email" | "url" | "number" | "boolean" | "choice";
};

const rootKeywords = new Set(["type", "title", "description", "properties", "required", "additionalProperties"]);
const fieldKeywords = new Set([
  "type",
  "title",
  "description",
  "default",
  "enum",
  "format",
  "writeOnly",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
]);
const controls: Readonly<Record<string, FlatField["control"]>> = {
  string: "text",
  number: "number",
  integer: "number",
  boolean: "boolean",
};
const formats: Readonly<Record<string, FlatField["control"]>> = {
  date: "date",
  email: "email",
  uri: "url",
  uuid: "text",
  password: "text",
};

/**
 * The fields of a prepared schema, required ones first, if each takes one control: texts, numbers, choices, yes or no.
 * Null for one with lists, objects or alternatives, whose form needs a library six times as large as the inspector's page.
 */
export function flatFields(schema: Json): readonly FlatField[] | null {
  const { properties, required, additionalProperties = false } = schema;
  if (!Object.keys(schema).every((keyword) => rootKeywords.has(keyword))) return null;
  if (!isObject(properties) || additionalProperties !== false) return null;
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties).map(([name, part]) => {
    const control = isObject(part) ? controlOf(part) : null;
    if (control === null || !isObject(part)) return null;
    const { title, description } = part;
    return {
      name,
      label: typeof title === "string" && title !== "" ? title : name,
      description: typeof description === "string" && description !== "" ? description : null,
      required: names.includes(name),
      schema: part,
      control,
    };
  });
  return fields.every((field) => field !== null) ? fields : null;
}

function controlOf(part: Json): FlatField["control"] | null {
  const { type, format, enum: choices } = part;
  if (!Object.keys(part).every((keyword) => fieldKeywords.has(keyword))) return null;
  if (Array.isArray(choices)) return choices.every(isPlain) ? "choice" : null;
  const control = typeof type === "string" ? controls[type] : undefined;
  if (control === undefined) return null;
  if (format === undefined || control !== "text") return control;
  return formats[String(format)] ?? null;
}

const isPlain = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);

/** The arguments with the defaults of missing ones. */
export function withDefaults(fields: readonly FlatField[], given: Arguments): Arguments {
  const missing = fields.filter(({ name, schema }) => schema.default !== undefined && !(name in given));
  return missing.length === 0
    ? given
    : { ...given, ...Object.fromEntries(missing.map(({ name, schema }) => [name, schema.default])) };
}
