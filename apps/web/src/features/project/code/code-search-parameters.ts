import { positiveInteger, type SearchOf, searchParameters, text, uuid } from "~/http/search-parameters.ts";

const readers = {
  branch: (value: unknown) => text(255)(value) || undefined,
  file: (value: unknown) => text(1000)(value) || undefined,
  line: positiveInteger,
  /** What is searched for in the files. */
  q: (value: unknown) => text(200)(value) || undefined,
  /** A failed build whose remedy is to be made. */
  fix: uuid,
  /** The commit that `line` is of. */
  commit: (value: unknown) => text(64)(value) || undefined,
  /** Back from GitHub: as whom, or why not. */
  signedInAs: text(100),
  problem: text(30),
};

export const codeSearchParameters = searchParameters(readers);
export type CodeSearch = SearchOf<typeof readers>;
