import { parseInput } from "@towpath/core/input";
import type { z } from "zod";

/** Validator of a server function: problems come out as `invalid_input` with a text for each field. */
export const input =
  <Schema extends z.ZodType>(schema: Schema) =>
  (value: z.input<Schema>): z.output<Schema> =>
    parseInput(schema, value);
