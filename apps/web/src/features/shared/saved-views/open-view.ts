import { defaultStringifySearch, redirect } from "@tanstack/react-router";
import type { ViewList } from "@towpath/core/operations/saved-view/schema";
import { viewsQuery } from "./saved-views.functions.ts";
import { appliedSearch, type ListParameters, type Opening } from "./view-lists.ts";

/** Redirects to the list with the filters of its default view, as far as they apply. Not to none: it would come back. */
export async function openView(
  { location, params, context }: Opening,
  list: ViewList,
  parameters: ListParameters,
): Promise<void> {
  const views = await context.queryClient.fetchQuery(viewsQuery(params, list));
  const view = views.find(({ isDefault }) => isDefault);
  const search = view ? defaultStringifySearch(appliedSearch(parameters, view.search)) : "";
  if (search !== "") throw redirect({ href: location.pathname + search, replace: true });
}
