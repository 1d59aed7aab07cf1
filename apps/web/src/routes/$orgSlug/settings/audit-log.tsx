import { createFileRoute } from "@tanstack/react-router";
import { auditActorsQuery, auditLogQuery } from "~/features/organization/audit-log/audit-log.functions.ts";
import { AuditLogPage, AuditLogPending } from "~/features/organization/audit-log/audit-log-page.tsx";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";
import { oneOf, order, searchParameters, text } from "~/http/search-parameters.ts";

const groups = [
  "people",
  "team",
  "servers",
  "builds",
  "variables",
  "access",
  "keys",
  "alerts",
  "clients",
  "github",
] as const;

const validateSearch = searchParameters({
  actor: text(60),
  group: oneOf(groups),
  time: oneOf(["24h", "7d", "30d", "90d"] as const),
  order,
});

/** ORG-10 */
export const Route = createFileRoute("/$orgSlug/settings/audit-log")({
  validateSearch,
  beforeLoad: (opening) => openDefaultView(opening, "audit", validateSearch),
  loaderDeps: ({ search: { order: _order, ...deps } }) => deps,
  loader: ({ context, params, deps }) =>
    Promise.all([
      context.queryClient.ensureInfiniteQueryData(auditLogQuery(params.orgSlug, deps)),
      context.queryClient.ensureQueryData(auditActorsQuery(params.orgSlug)),
    ]),
  head: () => ({ meta: [{ title: "Audit log · Towpath" }] }),
  component: AuditLog,
  pendingComponent: AuditLogPending,
});

function AuditLog() {
  const { orgSlug } = Route.useParams();
  const { order: _order, ...search } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <AuditLogPage
      orgSlug={orgSlug}
      search={search}
      onSearch={(change) => void navigate({ search: (before) => ({ ...before, ...change }) })}
    />
  );
}
