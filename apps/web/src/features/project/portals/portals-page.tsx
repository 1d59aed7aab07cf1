import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { PortalListItem } from "@towpath/core/portal";
import type { ServerActivity } from "@towpath/logs/overview";
import { Plus } from "lucide-react";
import { serversActivityQuery, serversShown } from "~/features/organization/servers/servers.functions.ts";
import { AuthModeBadge } from "~/features/shared/project-screen/project-labels.tsx";
import { useMay } from "~/features/shared/session/guards.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { NoPortalsDrawing } from "~/ui/drawings.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { ErrorCount } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { useSorted } from "~/ui/use-sorted.ts";
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
      <Plus aria-hidden />
      New portal
    </Link>
  );
}

type Listed = {
  readonly portal: PortalListItem;
  /** Undefined while loading, and if there are too many portals. */
  readonly activity: ServerActivity | undefined;
};

const sortedBy = {
  Portal: ({ portal }: Listed) => portal.name,
  Tools: ({ portal }: Listed) => portal.tools,
  "Calls, 24 h": ({ activity }: Listed) => activity?.calls,
  Errors: ({ activity }: Listed) => activity?.errors,
  "Last call": ({ activity }: Listed) => activity?.lastCall,
};

function PortalTable({ portals, orgSlug }: { readonly portals: readonly PortalListItem[]; readonly orgSlug: string }) {
  const ids = portals.slice(0, serversShown).map(({ id }) => id);
  const { data } = useQuery(serversActivityQuery(orgSlug, ids));
  const activity = data && new Map(data.map((each) => [each.projectId, each]));
  const unsorted = portals.map((portal) => ({ portal, activity: activity?.get(portal.id) }));
  const { rows, sort } = useSorted(unsorted, sortedBy, portals.length <= serversShown);
  return (
    <Table label="Portals">
      <TableHead>
        <Th sort={sort("Portal")}>Portal</Th>
        <Th>Servers</Th>
        <Th sort={sort("Tools")} className="text-right">
          Tools
        </Th>
        <Th sort={sort("Calls, 24 h")} className="text-right">
          Calls, 24 h
        </Th>
        <Th sort={sort("Errors")} className="text-right">
          Errors
        </Th>
        <Th sort={sort("Last call")}>Last call</Th>
        <Th>
          <span className="sr-only">URL</span>
        </Th>
      </TableHead>
      <TableBody>
        {rows.map(({ portal, activity }) => (
          <PortalRow key={portal.id} portal={portal} orgSlug={orgSlug} activity={activity} />
        ))}
      </TableBody>
    </Table>
  );
}

function PortalRow({ portal, orgSlug, activity }: Listed & { readonly orgSlug: string }) {
  return (
    <Tr className="relative">
      <Td wide className="max-w-0 max-sm:max-w-none sm:w-2/5">
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
      </Td>
      <Td label="Servers" className="max-w-56 text-muted">
        <span className="line-clamp-2">{portal.servers.length === 0 ? "None left" : portal.servers.join(", ")}</span>
      </Td>
      <Td label="Tools" className="tabular sm:text-right">
        {portal.tools}
      </Td>
      <Td label="Calls, 24 h" className="tabular sm:text-right">
        {activity ? formatCount(activity.calls) : "–"}
      </Td>
      <Td label="Errors" className="tabular sm:text-right">
        {activity ? <ErrorCount {...activity} /> : "–"}
      </Td>
      <Td label="Last call" className="whitespace-nowrap text-muted">
        {activity?.lastCall ? <RelativeTime time={activity.lastCall} /> : "Never"}
      </Td>
      <Td className="relative z-10 w-10 max-sm:hidden">
        <CopyButton text={portal.url} label={`Copy the URL of ${portal.name}`} />
      </Td>
    </Tr>
  );
}
