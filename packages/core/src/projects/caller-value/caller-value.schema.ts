import { z } from "zod";
import { maxSecrets, secretKeyNameSchema, secretValueSchema } from "../secret/secret.schema.ts";

/** A person's own values of variables that are per caller (CAP-1). What is not given stays. */
export const setCallerValuesSchema = z.object({
  values: z
    .array(z.object({ keyName: secretKeyNameSchema, value: secretValueSchema }))
    .min(1, "Enter a value")
    .max(maxSecrets, `At most ${maxSecrets} values`)
    .refine((list) => new Set(list.map((each) => each.keyName)).size === list.length, {
      error: "Each name can appear only once",
    }),
});
