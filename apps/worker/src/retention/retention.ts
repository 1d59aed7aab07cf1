import { type Removal, sweepRows } from "@towpath/core/retention";
import { jobContext, type Services } from "../services.ts";
import type { RetentionConfig } from "./config.ts";

/** One round: removes what its time is over for (LOG-6). Another worker's round makes it a no-op. */
export async function retentionRound(
  services: Services,
  config: RetentionConfig,
  signal?: AbortSignal,
): Promise<Removal | null> {
  const ctx = jobContext(services, "sweep");
  const swept = await sweepRows({
    ctx,
    input: { now: ctx.clock.now(), policy: config.policy, ...(signal && { signal }) },
  });
  if (swept === null) return null;
  const removed = Object.fromEntries(Object.entries(swept.removed).filter(([, count]) => count > 0));
  if (Object.keys(removed).length > 0) services.log.info({ removed }, "removed what its time was over for");
  for (const { name, error } of swept.problems) services.log.warn({ err: error, name }, "retention: a step failed");
  return swept;
}
