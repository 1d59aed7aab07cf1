import { defaultView, savedView, type ViewSearch } from "@towpath/db/schema";
import { and, asc, eq, isNull, or } from "drizzle-orm";
import type { Call } from "../../context/index.ts";
import { missingFilters } from "./missing-filters.ts";
import type { ViewList } from "./saved-view.schema.ts";
import { inPlace, mayOpen, placeOf, type ViewScope } from "./saved-view.store.ts";

/** A view as the person sees it. */
export type SavedView = {
  readonly id: string;
  readonly list: ViewList;
  readonly name: string;
  /** What still applies. */
  readonly search: ViewSearch;
  /** Filters that it was saved with, by what is gone: a branch, a deployment, a person. */
  readonly missing: ViewSearch;
  readonly isShared: boolean;
  /** Whether the list opens with it for this person. */
  readonly isDefault: boolean;
};

/** The person's own views and the shared ones of a server's lists, or of the organization's, by name (CAP-7). */
export async function listSavedViews({
  ctx,
  input,
}: Call<ViewScope & { readonly list?: ViewList | undefined }>): Promise<readonly SavedView[]> {
  const place = await placeOf(ctx, input);
  const { list } = input;
  const rows = await ctx.db
    .select({ view: savedView, defaultId: defaultView.id })
    .from(savedView)
    .leftJoin(defaultView, and(eq(defaultView.viewId, savedView.id), eq(defaultView.userId, place.userId)))
    .where(
      and(
        inPlace(place),
        list && eq(savedView.list, list),
        or(isNull(savedView.userId), eq(savedView.userId, place.userId)),
      ),
    )
    .orderBy(asc(savedView.name), asc(savedView.id));
  // As in the verbs that look for what a filter names. The organization's lists name no server.
  const scope = { orgSlug: input.orgSlug, projectName: place.projectId ?? "" };
  const views = rows.map(async ({ view, defaultId }) => {
    if (!mayOpen(place, view.list)) return [];
    const missing = await missingFilters(ctx, scope, { list: view.list, search: view.search });
    const applies = Object.entries(view.search).filter(([name]) => !(name in missing));
    const { id, name } = view;
    const shared = { isShared: view.userId === null, isDefault: defaultId !== null };
    return [{ id, list: view.list, name, search: Object.fromEntries(applies), missing, ...shared }];
  });
  return (await Promise.all(views)).flat();
}

/** That a list opens with a view. `projectId`: of the server that has the list; null: the organization. */
export type DefaultView = { readonly viewId: string; readonly list: string; readonly projectId: string | null };

/** With which views lists of the organization and its servers open for the person; none for API keys (CAP-7). */
export async function listDefaultViews({
  ctx,
  input,
}: Call<{ readonly orgSlug: string }>): Promise<readonly DefaultView[]> {
  if (ctx.actor.kind !== "user") return [];
  const { organizationId, userId } = await placeOf(ctx, { orgSlug: input.orgSlug });
  const { viewId, list, projectId } = defaultView;
  return ctx.db
    .select({ viewId, list, projectId })
    .from(defaultView)
    .where(and(eq(defaultView.organizationId, organizationId), eq(defaultView.userId, userId)));
}
