import { z } from "zod";

/** Names of schemas under `components` of the OpenAPI document. */
export const answerNames = z.registry<{ id: string }>();

export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  answerNames.add(schema, { id });
  return schema;
}

export const time = z.iso.datetime();
export const names = z.array(z.string()).readonly();
export const listOf = <Schema extends z.ZodType>(schema: Schema) => z.array(schema).readonly();
