import { listOf, type SearchOf, searchParameters, text } from "~/http/search-parameters.ts";

const readers = { name: text(200), version: text(80), arguments: text(500), envVariables: listOf(text(256), 50) };

/** What a link may fill in: the package, its version, arguments and the names of its variables, never their values. */
export const packageSearchParameters = searchParameters(readers);
export type PackageSearch = SearchOf<typeof readers>;
