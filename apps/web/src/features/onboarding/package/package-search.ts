import { listOf, type SearchOf, searchParameters, text } from "~/http/search-parameters.ts";

const readers = { name: text(200), version: text(80), arguments: text(500), envVariables: listOf(text(256), 50) };

/** Fields that a link may fill in: package, version, arguments and names of variables, never their values. */
export const packageSearchParameters = searchParameters(readers);
export type PackageSearch = SearchOf<typeof readers>;
