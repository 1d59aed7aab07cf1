import type { LogSearch } from "@towpath/logs/schema";
import type { Overview } from "./overview.functions.ts";

/** Search of the log for exactly the errors that an overview has counted. `branch`: null: all. */
export const failuresSearch = ({ from, now }: Overview, branch: string | null): LogSearch => ({
  status: "failed",
  methodType: "all",
  timeRange: "24h",
  from,
  to: now,
  ...(branch !== null && { branch }),
});
