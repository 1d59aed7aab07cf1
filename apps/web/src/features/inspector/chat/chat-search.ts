import { type SearchOf, searchParameters, text, uuid } from "~/http/search-parameters.ts";

const readers = {
  /** A question to fill in, not to ask: asking may cost money, and a link is not consent. */
  q: text(4000),
  deploymentId: uuid,
  branchId: uuid,
  /** The chat that is open. */
  chat: uuid,
};

/** Search parameters of the chat (PRJ-9). Invalid values are ignored. */
export const chatSearchParameters = searchParameters(readers);
export type ChatSearch = SearchOf<typeof readers>;
