import { z } from "zod";

const most = 10_000_000;
const count = (what: string) =>
  z
    .number({ error: `${what} must be a number` })
    .int(`${what} must be a whole number`)
    .min(1, `${what} must be 1 or more`)
    .max(most, `${what} must be ${most.toLocaleString("en")} or less`);

const rateSchema = z.object({
  /** Calls in a minute, in the long run. */
  perMinute: count("Calls a minute"),
  /** Calls at once. */
  burst: count("Calls at once"),
});

/** How many calls a server takes (GW-8). Null: as many as the instance allows. */
export const callLimitSchema = z.object({
  caller: rateSchema.nullable(),
  server: rateSchema.nullable(),
  /** The revision that the change starts from; absent: the stored one. */
  revision: z.number().int().min(0).optional(),
});
export type CallLimitInput = z.input<typeof callLimitSchema>;
