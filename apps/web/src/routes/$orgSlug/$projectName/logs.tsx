import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import type { LogSearch } from "@towpath/logs/schema";
import { withStatistics } from "@towpath/logs/search";
import { defaultLogSearch, logSearchParameters } from "~/features/project/request-log/log-filters.ts";
import { LogsPage } from "~/features/project/request-log/logs-page.tsx";
import { isProtocolShown } from "~/features/project/request-log/protocol-choice.ts";
import {
  logStatsQuery,
  logValuesQuery,
  newestLogsQuery,
} from "~/features/project/request-log/request-log.functions.ts";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";

export const Route = createFileRoute("/$orgSlug/$projectName/logs")({
  validateSearch: logSearchParameters,
  search: { middlewares: [stripSearchParams(defaultLogSearch)] },
  beforeLoad: (opening) => openDefaultView(opening, "requests", logSearchParameters),
  // Without the open request and the order: neither must load the list again.
  loaderDeps: ({ search: { request: _open, order: _order, ...deps } }) => deps,
  loader: async ({ context, params, deps }) => {
    const showsProtocol = deps.protocol ?? isProtocolShown();
    await Promise.all([
      context.queryClient.prefetchQuery(newestLogsQuery(params, deps, showsProtocol)),
      context.queryClient.prefetchQuery(logStatsQuery(params, withStatistics(deps), showsProtocol, false)),
      context.queryClient.prefetchQuery(logValuesQuery(params, deps.timeRange)),
    ]);
  },
  head: ({ params }) => ({ meta: [{ title: `Logs · ${params.projectName} · Towpath` }] }),
  component: LogsRoute,
});

function LogsRoute() {
  const projectKey = Route.useParams();
  const { request, order, ...current } = Route.useSearch();
  const navigate = Route.useNavigate();
  // A step of the browser's history, so that Back leads to the filters before.
  const change = (next: LogSearch) => void navigate({ search: { ...next, request, order }, resetScroll: false });
  const open = (id: string | null) =>
    void navigate({ search: (before) => ({ ...before, request: id ?? undefined }), replace: true, resetScroll: false });
  return <LogsPage projectKey={projectKey} search={current} onSearch={change} openId={request ?? null} onOpen={open} />;
}
