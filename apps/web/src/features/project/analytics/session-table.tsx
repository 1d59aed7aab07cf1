import { Link } from "@tanstack/react-router";
import { clientText, PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { actionsColumn, type Column, DataTable, leadColumn, numberColumn, timeColumn } from "~/ui/data-table.tsx";
import { callColumns } from "~/ui/error-count.tsx";
import { rowLinkLook } from "~/ui/table.tsx";
import { formatDuration } from "~/ui/time.tsx";
import { useOrderInAddress } from "~/ui/use-sorted.ts";
import type { NamedSession } from "./analytics.functions.ts";
import { CallsLink } from "./calls-link.tsx";

/** Milliseconds from first to last call. */
export const lengthOf = (session: { readonly firstSeen: string; readonly lastSeen: string }): number =>
  Date.parse(session.lastSeen) - Date.parse(session.firstSeen);

type SessionTableProps = {
  projectKey: ProjectKey;
  sessions: readonly NamedSession[];
  /** Shows each session's caller; off in the list of one user. */
  withPrincipal: boolean;
  /** Whether all sessions are loaded. */
  isWhole: boolean;
};

/** Sessions, most recently active first. */
export function SessionTable({ projectKey, sessions, withPrincipal, isWhole }: SessionTableProps) {
  const kept = useOrderInAddress();
  const user: Column<NamedSession> = {
    name: "User",
    by: ({ principal }) => principal.name,
    wide: true,
    headClassName: "w-1/4",
    cell: ({ principal }) => <PrincipalLabel principal={principal} />,
    className: "max-w-0 max-sm:max-w-none",
  };
  const columns: readonly Column<NamedSession>[] = [
    leadColumn<NamedSession>("Client", clientText, {
      cell: (session) => (
        <Link
          to="/$orgSlug/$projectName/sessions/$sessionId"
          params={{ ...projectKey, sessionId: session.id }}
          data-row
          className={rowLinkLook}
        >
          {clientText(session)}
        </Link>
      ),
      headClassName: "w-1/4",
      className: "max-w-0 max-sm:max-w-none",
    }),
    ...(withPrincipal ? [user] : []),
    {
      name: "Protocol",
      by: ({ protocolVersion }) => protocolVersion,
      cell: ({ protocolVersion }) => protocolVersion ?? "–",
      className: "tabular whitespace-nowrap text-muted",
    },
    ...callColumns<NamedSession>(),
    numberColumn("Length", lengthOf, formatDuration, "whitespace-nowrap text-muted"),
    timeColumn("Last call", ({ lastSeen }) => lastSeen, {
      headClassName: "text-right",
      className: "whitespace-nowrap text-muted sm:text-right",
    }),
    actionsColumn((session) => (
      <CallsLink
        projectKey={projectKey}
        search={{ ...(session.session ? { session: session.session } : { user: session.principal.id }) }}
        of={clientText(session)}
      />
    )),
  ];
  return (
    <DataTable
      label="Sessions"
      rows={sessions}
      keyOf={({ id }) => id}
      columns={columns}
      isWhole={isWhole}
      kept={withPrincipal ? kept : undefined}
      rowClassName="relative"
    />
  );
}
