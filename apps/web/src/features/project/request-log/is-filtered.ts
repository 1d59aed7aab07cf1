import { queryParts } from "@towpath/logs/query-parts";
import type { LogSearch } from "@towpath/logs/schema";

/** Whether any filter other than the time range is set. */
export const isFiltered = (search: LogSearch): boolean => queryParts(search).length > 0;
