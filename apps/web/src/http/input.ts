import { parseInput } from "@towpath/core/input";
import type { z } from "zod";

// Not in access.ts, which the browser's bundle includes: parseInput must stay on the server.

/** Validator of a server function. @throws TowpathError `invalid_input` with a message for each invalid field. */
export const input =
  <Schema extends z.ZodType>(schema: Schema) =>
  (value: z.input<Schema>): z.output<Schema> =>
    parseInput(schema, value);
