import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation, useMatches, useRouter } from "@tanstack/react-router";
import type { SavedView } from "@towpath/core/operations/saved-view";
import type { ViewList } from "@towpath/core/operations/saved-view/schema";
import { useMay } from "~/features/shared/session/guards.ts";
import { organizationQuery } from "~/features/shared/session/session.functions.ts";
import { viewsQuery } from "./saved-views.functions.ts";
import {
  droppedFilters,
  isSameSearch,
  type ListParameters,
  savableSearch,
  type ViewPlace,
  type ViewSearch,
} from "./view-lists.ts";

/** Where views are, and the one that was opened, whose filters may have changed since. */
export type ViewsOf = { readonly place: ViewPlace; readonly list: ViewList; readonly opened: SavedView | null };

type Shown = {
  /** What the list filters by now. */
  readonly current: ViewSearch;
  readonly opened: SavedView | null;
  /** The same, while the list shows it unchanged. */
  readonly shown: SavedView | null;
  /** Its filters that don't apply. */
  readonly dropped: readonly string[];
};

/** Of `searchParameters`, as every list has them. */
const parametersOf = (validator: unknown): ListParameters | null =>
  typeof validator === "object" && validator !== null && "parse" in validator ? (validator as ListParameters) : null;

/** The opened view, or else the default one, as far as the list shows it. */
export function useShownView({ place, list, opened: chosen }: ViewsOf): Shown {
  const { data: views } = useQuery(viewsQuery(place, list));
  const opened = chosen ?? views?.find(({ isDefault }) => isDefault) ?? null;
  const current = savableSearch(useLocation({ select: ({ search }) => search }));
  const { routesById } = useRouter();
  const routeId = useMatches({ select: (matches) => matches.at(-1)?.routeId });
  const parameters = routeId && parametersOf(routesById[routeId].options.validateSearch);
  if (!parameters || !opened || !isSameSearch(parameters, opened.search, current))
    return { current, opened, shown: null, dropped: [] };
  return { current, opened, shown: opened, dropped: droppedFilters(parameters, opened) };
}

/** Whether the role may share views of the list, and change shared ones. The server checks again. */
export function useMayShare({ projectName }: ViewPlace): boolean {
  const mayChangeServers = useMay("project.update");
  const mayChangeOrganization = useMay("organization.manage");
  return projectName === undefined ? mayChangeOrganization : mayChangeServers;
}

/** Refreshes what knows of views: the lists of them, and the defaults in the page's data. */
export function useRefreshViews({ orgSlug }: ViewPlace): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ["saved-views", orgSlug] }),
      queryClient.invalidateQueries({ queryKey: organizationQuery(orgSlug).queryKey }),
    ]);
  };
}
