import type { Database } from "@towpath/db";
import { type IsolationReport, isolationReportSchema } from "./host-isolation.schema.ts";
import { writeHostIsolation } from "./host-isolation.store.ts";

/**
 * Stores a runner's report about its host's isolation. Called by the runner itself, so there is nobody to authorize.
 */
export async function recordHostIsolation(
  db: Database,
  input: { readonly host: string; readonly report: IsolationReport; readonly at: Date },
): Promise<void> {
  await writeHostIsolation(db, input.host, isolationReportSchema.parse(input.report), input.at);
}
