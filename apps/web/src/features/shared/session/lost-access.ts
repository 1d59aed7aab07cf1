import type { Query, QueryClient } from "@tanstack/react-query";
import { classifyError } from "~/ui/classify-error.ts";

// Access can be lost while a page is open: a membership is revoked, a role lowered, a project deleted. The next refused
// query reports it. Then earlier data is dropped, so that the page's error screen replaces it.

const minute = 60_000;
/** Longer than a request takes. */
const settledMs = 5000;
const isRefusal = (error: unknown) => classifyError(error).kind !== "other";

/** Marks queries that show whether the user may see the organization or project on screen. */
export const accessMeta = { meta: { isAccess: true } } as const;

type Failed = { readonly state: { readonly data: unknown } };

/** Default `throwOnError` of queries: a page with a forbidden query shows ERR-1, as after a forbidden loader. */
export const throwsForbidden = (error: Error, { state }: Failed): boolean =>
  state.data === undefined && classifyError(error).kind === "forbidden";

/** `throwOnError` of a page's main query: the page shows ERR-2 if its subject doesn't exist. */
export const throwsRefusal = (error: Error, { state }: Failed): boolean => state.data === undefined && isRefusal(error);

/** For the layouts, which keep those queries active. */
export const watchAccess = { refetchInterval: 2 * minute, throwOnError: throwsRefusal } as const;

/** For the query cache's `onError` in browsers. */
export function onRefusal(queryClient: QueryClient, error: Error, query: Query<unknown, unknown, unknown>): void {
  if (!isRefusal(error)) return;
  if (query.state.data !== undefined) query.setState({ ...query.state, data: undefined });
  // The guards' data may be stale, too. Recently fetched data is refetched a moment later: its request may have
  // preceded the loss of access, and refetching at once would loop if two queries are refused in turns.
  const again = (each: Query) => void queryClient.invalidateQueries({ predicate: (other) => other === each });
  for (const each of queryClient.getQueryCache().getAll()) {
    if (each === query || each.meta?.isAccess !== true) continue;
    if (Date.now() - each.state.dataUpdatedAt > settledMs) again(each);
    else setTimeout(again, settledMs, each);
  }
}
