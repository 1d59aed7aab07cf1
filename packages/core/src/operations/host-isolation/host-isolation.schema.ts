import { z } from "zod";

/** What a runner's self-test found about its host's isolation: in `GET /v1/isolation`, and as it is stored (RUN-1). */
export const isolationReportSchema = z.object({
  /** What servers and builds run in, `gvisor` within bubblewrap; `none` also if nothing runs. Earlier releases didn't say. */
  isolatedBy: z.enum(["bubblewrap", "gvisor", "pods", "none"]).optional(),
  /** False when a required check failed: nothing runs there unless a setting allows it. */
  trusted: z.boolean(),
  /** Whether nothing starts, because a required check failed and no setting permits it. Earlier releases didn't say. */
  refuses: z.boolean().optional(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })).readonly(),
  /** Settings by which the operator relaxed the isolation, and what each of them means on this host. */
  exceptions: z.array(z.object({ setting: z.string(), meaning: z.string() })).readonly(),
  /** What cannot run on this host, why, and what the operator can do, in whole sentences. */
  problems: z.array(z.string()).readonly(),
  /** What else the instance lacks, with the remedy: a bucket, the right time. */
  warnings: z.array(z.string()).readonly().optional(),
});
export type IsolationReport = z.infer<typeof isolationReportSchema>;
