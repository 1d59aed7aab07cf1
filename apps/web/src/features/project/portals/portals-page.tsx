import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PortalListItem } from "@towpath/core/projects/portal";
import type { ServerActivity } from "@towpath/logs/overview";
import { Plus } from "lucide-react";
import { serversActivityQuery, serversShown } from "~/features/organization/servers/servers.functions.ts";
import { AuthModeBadge } from "~/features/shared/project-screen/project-labels.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { actionsColumn, type Column, DataTable, leadColumn, numberColumn, timeColumn } from "~/ui/data-table.tsx";
import { NoPortalsDrawing } from "~/ui/drawings.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { ErrorCount } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { portalsQuery } from "./portals.functions.ts";

const purpose = "One endpoint with tools from several servers.";

/** The organization's portals (ORG-3). */
export function PortalsPage({ orgSlug }: { readonly orgSlug: string }) {
  const { data, error, isPending } = useQuery(portalsQuery(orgSlug));
  const isEmpty = data?.length === 0;
  return (
    <>
      <PageHeader
        title="Portals"
        description={isEmpty ? undefined : purpose}
        actions={isEmpty ? null : <NewPortalLink orgSlug={orgSlug} />}
      />
      {error && !data ? (
        <Callout tone="bad" title="Couldn't load the list" className="mb-3">
          {error.message}
        </Callout>
      ) : null}
      <div className="overflow-hidden rounded-lg border bg-surface">
        {isPending ? <SkeletonRows rows={3} label="Loading portals" /> : null}
        {isEmpty ? (
          <EmptyState
            drawing={<NoPortalsDrawing />}
            title="No portals yet"
            actions={<NewPortalLink orgSlug={orgSlug} />}
            docs={["portals", "Portals"]}
            example={
              <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 rounded-md border bg-sunken px-3 py-2 text-xs">
                <dt className="text-muted">Servers</dt>
                <dd>weather, calendar, tickets</dd>
                <dt className="text-muted">Tools</dt>
                <dd className="font-mono break-words">forecast, list_events, search, tickets-search</dd>
              </dl>
            }
          >
            {purpose} People add one URL to their client and get every tool they can call.
          </EmptyState>
        ) : null}
        {data && data.length > 0 ? <PortalTable portals={data} orgSlug={orgSlug} /> : null}
      </div>
    </>
  );
}

function NewPortalLink({ orgSlug }: { readonly orgSlug: string }) {
  const mayCreate = useMay("project.create");
  if (!mayCreate) return null;
  return (
    <Link to="/$orgSlug/portals/new" params={{ orgSlug }} className={buttonLook({ variant: "primary" })}>
      <Plus />
      New portal
    </Link>
  );
}

type Listed = {
  readonly portal: PortalListItem;
  /** Undefined while loading, and if there are too many portals. */
  readonly activity: ServerActivity | undefined;
};

function PortalTable({ portals, orgSlug }: { readonly portals: readonly PortalListItem[]; readonly orgSlug: string }) {
  const ids = portals.slice(0, serversShown).map(({ id }) => id);
  const { data } = useQuery(serversActivityQuery(orgSlug, ids));
  const activity = data && new Map(data.map((each) => [each.projectId, each]));
  const rows = portals.map((portal) => ({ portal, activity: activity?.get(portal.id) }));
  const columns: readonly Column<Listed>[] = [
    leadColumn("Portal", ({ portal }) => portal.name, {
      cell: ({ portal }) => <PortalName portal={portal} orgSlug={orgSlug} />,
      className: "max-w-0 max-sm:max-w-none sm:w-2/5",
    }),
    {
      name: "Servers",
      className: "max-w-56 text-muted",
      cell: ({ portal: { servers } }) => (
        <span className="line-clamp-2">{servers.length === 0 ? "None left" : servers.join(", ")}</span>
      ),
    },
    numberColumn("Tools", ({ portal }) => portal.tools, String),
    numberColumn("Calls, 24 h", ({ activity }) => activity?.calls, formatCount),
    numberColumn(
      "Errors",
      ({ activity }) => activity?.errors,
      (_, { activity }) => activity && <ErrorCount {...activity} />,
    ),
    timeColumn("Last call", ({ activity }) => activity?.lastCall, { className: "whitespace-nowrap text-muted" }),
    actionsColumn(({ portal }) => <CopyButton text={portal.url} label={`Copy the URL of ${portal.name}`} />, {
      name: "URL",
      wide: false,
      className: "relative z-10 w-10 max-sm:hidden",
    }),
  ];
  const isWhole = portals.length <= serversShown;
  const keyOf = ({ portal }: Listed) => portal.id;
  return (
    <DataTable label="Portals" rows={rows} columns={columns} keyOf={keyOf} isWhole={isWhole} rowClassName="relative" />
  );
}

function PortalName({ portal, orgSlug }: { readonly portal: PortalListItem; readonly orgSlug: string }) {
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
      <Link
        to="/$orgSlug/$projectName"
        params={{ orgSlug, projectName: portal.pathName }}
        className="min-w-0 truncate font-medium underline-offset-3 after:absolute after:inset-0 hover:underline"
      >
        {portal.name}
      </Link>
      <AuthModeBadge mode={portal.authMode} />
    </div>
  );
}
