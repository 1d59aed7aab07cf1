import type { LogSearch } from "@towpath/logs/schema";
import { defaultLogSearch } from "~/features/request-log/log-filters.ts";
import type { Overview } from "./overview.functions.ts";

/** Finds in the log the errors that an overview has counted, and no others. `branch`: the one it is of; null: all. */
export const failuresSearch = ({ from, now }: Overview, branch: string | null): LogSearch => ({
  ...{ ...defaultLogSearch, status: "failed", from, to: now },
  ...(branch !== null && { branch }),
});
