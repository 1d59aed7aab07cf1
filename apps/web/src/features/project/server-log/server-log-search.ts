import { oneOf, positiveInteger, searchParameters, withDefault } from "~/http/search-parameters.ts";

export const serverLogLevels = ["debug", "info", "warning", "error"] as const;
export type ServerLogLevel = (typeof serverLogLevels)[number];

export const defaultServerLogSearch = { level: "debug" } as const;

/** `at`: the line to show, which may be far from the newest. `level`: the lowest that is shown. */
export const serverLogSearchParameters = searchParameters({
  at: positiveInteger,
  level: withDefault(oneOf(serverLogLevels), defaultServerLogSearch.level),
});
