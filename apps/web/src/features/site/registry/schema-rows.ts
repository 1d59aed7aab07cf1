export type ArgumentRow = {
  readonly name: string;
  /** A readable type: `text`, `number`, `list of text`, `"north" or "south"`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | null;
  /** JSON; null without a default. */
  readonly defaultValue: string | null;
};

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value.trim() : null);

/** Maximum of rows of a tool. A server may publish a schema of any size. */
const maxRows = 40;

/** The arguments of a tool, from its JSON schema. Unknown constructs are shown as `any`. */
export function argumentRows(schema: Schema): readonly ArgumentRow[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties)
    .slice(0, maxRows)
    .map(([name, property]) => ({
      name,
      type: isObject(property) ? typeOf(property, 0) : "any",
      isRequired: required.includes(name),
      description: isObject(property) ? textOf(property.description) : null,
      defaultValue:
        isObject(property) && property.default != null ? JSON.stringify(property.default).slice(0, 60) : null,
    }));
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "yes or no",
  object: "object",
  null: "nothing",
};
const formats: Readonly<Record<string, string>> = {
  date: "date",
  "date-time": "date and time",
  uri: "URL",
  email: "email",
};

/** Maximum depth of nesting of a readable type. */
const maxDepth = 2;
const maxChoices = 6;

function typeOf(schema: Schema, depth: number): string {
  if (Array.isArray(schema.enum)) return choices(schema.enum.map((value) => JSON.stringify(value)));
  const alternatives = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list)) as unknown[] | undefined;
  if (alternatives && depth < maxDepth) {
    const known = alternatives.filter(isObject).filter(({ type }) => type !== "null");
    return choices([...new Set(known.map((each) => typeOf(each, depth + 1)))]) || "any";
  }
  if (schema.type === "array") {
    return isObject(schema.items) && depth < maxDepth ? `list of ${typeOf(schema.items, depth + 1)}` : "list";
  }
  if (Array.isArray(schema.type)) return choices(schema.type.flatMap((type) => typeNames[String(type)] ?? []));
  return (schema.type === "string" && formats[String(schema.format)]) || typeNames[String(schema.type)] || "any";
}

function choices(list: readonly string[]): string {
  const shown = list.length > maxChoices ? [...list.slice(0, maxChoices), "…"] : list;
  return shown.length < 2 ? (shown[0] ?? "") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}
