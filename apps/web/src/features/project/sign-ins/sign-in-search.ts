import { oneOf, type SearchOf, searchParameters, text, withDefault } from "~/http/search-parameters.ts";

export const shownStates = ["all", "connected", "failed", "waiting", "unfinished"] as const;

const readers = {
  state: withDefault(oneOf(shownStates), "all"),
  client: (value: unknown) => text(256)(value) || undefined,
};

/** Search parameters of the page: which attempts are shown, and of which clients. */
export const signInSearchParameters = searchParameters(readers);
export type SignInSearch = SearchOf<typeof readers>;
export const defaultSignInSearch = { state: "all" } as const satisfies SignInSearch;
