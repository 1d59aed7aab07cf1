import {
  oneOf,
  positiveInteger,
  type SearchOf,
  searchParameters,
  text,
  withDefault,
} from "~/http/search-parameters.ts";

export const errorStates = ["open", "resolved", "ignored"] as const;
const errorSorts = ["lastSeen", "firstSeen", "count"] as const;

const readers = {
  state: withDefault(oneOf(errorStates), "open"),
  tool: (value: unknown) => text(1024)(value) || undefined,
  q: (value: unknown) => text(512)(value) || undefined,
  sort: withDefault(oneOf(errorSorts), "lastSeen"),
  page: positiveInteger,
};

/** Search parameters of the list of errors (CAP-6). */
export const errorSearchParameters = searchParameters(readers);
export type ErrorSearch = SearchOf<typeof readers>;
export const defaultErrorSearch = { state: "open", sort: "lastSeen" } as const satisfies ErrorSearch;
