import type { ServerCall } from "../server-call.ts";

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const words =
  /(^|_)(password|passwd|passphrase|secret|token|api_?key|apikey|credentials?|authorization|private_?key|pin)s?(_|$)/i;
const snakeCase = (name: string) => name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").replaceAll(/[-.\s]+/g, "_");

/** Whether an argument is a secret, by its name or its schema. */
export function isSensitive(name: string, schema: unknown): boolean {
  if (isObject(schema) && (schema.format === "password" || schema.writeOnly === true)) return true;
  return words.test(snakeCase(name));
}

/** Arguments without secrets, and the paths of the omitted ones: `login.password`. */
export function withoutSecrets(
  args: Readonly<Json>,
  schema: unknown,
): { readonly kept: Json; readonly hidden: readonly string[] } {
  const hidden: string[] = [];
  const clean = (value: Readonly<Json>, of: unknown, path: string): Json => {
    const properties = isObject(of) && isObject(of.properties) ? of.properties : {};
    const entries = Object.entries(value).flatMap(([name, part]): [string, unknown][] => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (isSensitive(name, known)) {
        hidden.push(path + name);
        return [];
      }
      return [[name, cleanPart(part, known, `${path}${name}.`)]];
    });
    return Object.fromEntries(entries);
  };
  const cleanPart = (part: unknown, of: unknown, path: string): unknown => {
    if (Array.isArray(part)) return part.map((each) => cleanPart(each, isObject(of) ? of.items : undefined, path));
    return isObject(part) ? clean(part, of, path) : part;
  };
  return { kept: clean(args, schema, ""), hidden: [...new Set(hidden)] };
}

/** The same for a whole call. `schema`: of its arguments, if any. */
export function callWithoutSecrets(call: ServerCall, schema: unknown): { call: ServerCall; hidden: readonly string[] } {
  if (call.kind === "resource") return { call, hidden: [] };
  const { kept, hidden } = withoutSecrets(call.arguments, schema);
  return call.kind === "tool"
    ? { call: { ...call, arguments: kept }, hidden }
    : { call: { ...call, arguments: kept as Record<string, string> }, hidden };
}
