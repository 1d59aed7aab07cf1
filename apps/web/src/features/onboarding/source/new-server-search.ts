import { serverReaders } from "~/features/onboarding/server-form/deploy-search.ts";
import { flag, oneOf, type SearchOf, searchParameters, text } from "~/http/search-parameters.ts";

const readers = {
  /** The pasted text, unless it contains a password. */
  from: text(2000),
  branch: text(255),
  ...serverReaders,
  authMode: oneOf(["towpath-cloud", "towpath-public", "passthrough"]),
  previews: flag,
};

/** The new-server form in the URL, but for its credential (SRC-2). */
export const newServerSearchParameters = searchParameters(readers);
export type NewServerSearch = SearchOf<typeof readers>;

/** Writes fields into the URL. */
export type Keep = (fields: NewServerSearch) => void;
