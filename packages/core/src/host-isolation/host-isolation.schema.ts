import { z } from "zod";

/** The runner's self-test as it is stored: the shape of `GET /v1/isolation`. */
export const isolationReportSchema = z.object({
  trusted: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })).readonly(),
  exceptions: z.array(z.object({ setting: z.string(), meaning: z.string() })).readonly(),
  problems: z.array(z.string()).readonly(),
});

export type IsolationReport = z.infer<typeof isolationReportSchema>;
