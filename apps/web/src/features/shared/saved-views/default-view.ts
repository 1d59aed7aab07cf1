import type { ViewList } from "@towpath/core/operations/saved-view/schema";
import type { ListParameters, Opening } from "./view-lists.ts";

// In the first script, as all routes are: the rest is loaded for a list that has a default view.

/**
 * For `beforeLoad` of a list: opens it with the person's default view, if the address has no filters of its own. Not
 * while the page stays open, where no filters are the person's choice.
 */
export async function openDefaultView(opening: Opening, list: ViewList, parameters: ListParameters): Promise<void> {
  const { cause, location, context } = opening;
  if (cause !== "enter" || location.searchStr || !context.organization.defaultViews.some((view) => view.list === list))
    return;
  const { openView } = await import("./open-view.ts");
  await openView(opening, list, parameters);
}
