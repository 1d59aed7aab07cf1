import { z } from "zod";
import type { FieldSchema } from "./unknown-fields.ts";

type RequestSchema = FieldSchema & { readonly required?: readonly string[] };

const made = new WeakMap<z.ZodType, RequestSchema>();

/**
 * The JSON Schema of a request: objects allow only known fields. Rules that JSON Schema can't express are left out; the
 * server still checks them.
 */
export function requestSchema(schema: z.ZodType): RequestSchema {
  const known = made.get(schema);
  if (known) return known;
  const { $schema: _dialect, ...own } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const isObject = zodSchema._zod.def.type === "object";
      if (isObject && jsonSchema.additionalProperties === undefined) jsonSchema.additionalProperties = false;
    },
  });
  made.set(schema, own as RequestSchema);
  return own as RequestSchema;
}
