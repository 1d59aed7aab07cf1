import { oneOf, type SearchOf, searchParameters, text, uuid, withDefault } from "~/http/search-parameters.ts";

export const inspectorTabs = ["tools", "resources", "templates", "prompts"] as const;
export type InspectorTab = (typeof inspectorTabs)[number];

const itemName = text(4096);
const readers = {
  tool: itemName,
  resource: itemName,
  template: itemName,
  prompt: itemName,
  tab: withDefault(oneOf(inspectorTabs), "tools"),
  branchId: uuid,
  /** A row of the request log whose arguments are filled in (PRJ-20). */
  request: uuid,
};

/** Search parameters of the inspector (PRJ-4). Invalid values are ignored. */
export const inspectorSearchParameters = searchParameters(readers);
export type InspectorSearch = SearchOf<typeof readers>;
