import { redirect } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { timeRanges } from "~/features/project/request-log/log-filters.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { oneOf, order, searchParameters, uuid, withDefault } from "~/http/search-parameters.ts";

/** The kinds of items that a server offers. */
export const itemKinds = ["tool", "resource", "template", "prompt"] as const;
export type ItemKind = (typeof itemKinds)[number];

export type SurfaceSearch = {
  timeRange: TimeRange;
  /** Absent: all. */
  kind?: ItemKind | undefined;
  /** The build to compare with; absent: none. */
  against?: string | undefined;
};

export const surfaceSearchParameters = searchParameters({
  timeRange: withDefault(oneOf(timeRanges), defaultActivitySearch.timeRange),
  kind: oneOf(itemKinds),
  against: uuid,
  order,
});

/** To what took the place of the pages of one kind each; with the rest of the address. */
export function movedToSurface(params: ProjectKey, kind: ItemKind, name: string | undefined, search: object): never {
  const to = "/$orgSlug/$projectName/surface";
  if (name === undefined) throw redirect({ to, params, search: { ...search, kind }, replace: true });
  throw redirect({
    to: `${to}/$itemKind/$itemName`,
    params: { ...params, itemKind: kind, itemName: name },
    search,
    replace: true,
  });
}
