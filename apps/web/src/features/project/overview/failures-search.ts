import type { LogSearch } from "@towpath/logs/schema";
import type { Overview } from "./overview.functions.ts";

/** Finds in the log the errors that an overview has counted, and no others. `branch`: the one it is of; null: all. */
export const failuresSearch = ({ from, now }: Overview, branch: string | null): LogSearch => ({
  ...{ status: "failed", methodType: "all", timeRange: "24h", from, to: now },
  ...(branch !== null && { branch }),
});
