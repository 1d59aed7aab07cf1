import type { TimeRange } from "@towpath/logs/schema";
import { timeRanges } from "~/features/project/request-log/log-filters.ts";
import { oneOf, order, searchParameters, withDefault } from "~/http/search-parameters.ts";

export type ActivitySearch = { timeRange: TimeRange };

export const defaultActivitySearch = { timeRange: "24h" } as const satisfies ActivitySearch;

/** Search parameters of the pages about sessions, users and items (PRJ-6). */
export const activitySearchParameters = searchParameters({
  timeRange: withDefault(oneOf(timeRanges), defaultActivitySearch.timeRange),
  order,
});
