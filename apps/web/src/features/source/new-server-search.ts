import { flag, listOf, oneOf, type SearchOf, searchParameters, text } from "~/http/search-parameters.ts";

/** A variable's name. Cuts off `=value`: a URL must not carry secrets. */
const variableName = (value: unknown) => text(4096)(value)?.split("=", 1)[0]?.slice(0, 256) || undefined;

const readers = {
  /** What was pasted, unless it has a password in it. */
  from: text(2000),
  branch: text(255),
  serverName: text(64),
  entrypoint: text(200),
  arguments: text(500),
  requirements: text(200),
  rootDirectory: text(200),
  envVariables: listOf(variableName, 100),
  authMode: oneOf(["towpath-cloud", "towpath-public", "passthrough"]),
  previews: flag,
};

/** The new-server form in the URL, but for its credential (SRC-2). */
export const newServerSearchParameters = searchParameters(readers);
export type NewServerSearch = SearchOf<typeof readers>;

/** Writes fields into the URL. */
export type Keep = (fields: NewServerSearch) => void;
