import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import { type LogSearch, logSearchSchema } from "@towpath/logs/schema";
import { LogsPage } from "~/features/request-log/logs-page.tsx";
import { newestLogsQuery } from "~/features/request-log/request-log.queries.ts";

// A value that the screen does not know counts as not given: links outlive versions.
const search = logSearchSchema.extend({
  status: logSearchSchema.shape.status.catch("all"),
  methodType: logSearchSchema.shape.methodType.catch("all"),
  timeRange: logSearchSchema.shape.timeRange.catch("24h"),
});

export const Route = createFileRoute("/$orgSlug/$projectName/logs")({
  validateSearch: search,
  search: { middlewares: [stripSearchParams({ status: "all", methodType: "all", timeRange: "24h" })] },
  loaderDeps: ({ search: deps }) => deps,
  loader: async ({ context, params, deps }) => {
    await context.queryClient.prefetchQuery(newestLogsQuery(params, deps, true));
  },
  head: ({ params }) => ({ meta: [{ title: `Logs · ${params.projectName} · Towpath` }] }),
  component: LogsRoute,
});

function LogsRoute() {
  const projectKey = Route.useParams();
  const current = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: Partial<LogSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  return <LogsPage projectKey={projectKey} search={current} onSearch={change} />;
}
