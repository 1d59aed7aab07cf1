import { Link } from "@tanstack/react-router";
import type { ProjectListItem } from "@towpath/core/projects/project";
import type { ServerActivity } from "@towpath/logs/overview";
import { BuildStatusLabel } from "~/features/shared/project-screen/build-status.tsx";
import { AuthModeBadge, instanceLooks, LiveLabel } from "~/features/shared/project-screen/project-labels.tsx";
import { sourceName } from "~/features/shared/project-screen/source-names.ts";
import { Badge } from "~/ui/badge.tsx";
import { classNames } from "~/ui/class-names.ts";
import { ErrorCount } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { ServerIcon } from "~/ui/letter-tile.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { Sparkline } from "~/ui/sparkline.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { useOrderInAddress, useSorted } from "~/ui/use-sorted.ts";
import { WaterLevel } from "~/ui/water-level.tsx";

type Listed = {
  readonly server: ProjectListItem;
  /** Null: unknown; undefined: loading. */
  readonly activity: ServerActivity | null | undefined;
};

const sortedBy = {
  Server: ({ server }: Listed) => server.name,
  "Calls, 24 h": ({ activity }: Listed) => activity?.calls,
  Errors: ({ activity }: Listed) => activity?.errors,
  "Last call": ({ activity }: Listed) => activity?.lastCall,
  Tools: ({ server }: Listed) => server.live?.tools,
};

type ServerTableProps = {
  readonly servers: readonly ProjectListItem[];
  /** By project; undefined while it loads. */
  readonly activity: ReadonlyMap<string, ServerActivity> | undefined;
  readonly orgSlug: string;
  /** Whether no other server matches: the order of a part would mislead. */
  readonly isWhole: boolean;
  readonly selected?: string | undefined;
};

/** One row per server: description, state, and usage. */
export function ServerTable({ servers, activity, orgSlug, isWhole, selected }: ServerTableProps) {
  const unsorted = servers.map((server) => ({ server, activity: activity && (activity.get(server.id) ?? null) }));
  const { rows, sort } = useSorted(unsorted, sortedBy, isWhole, useOrderInAddress());
  return (
    <Table label="Servers">
      <TableHead>
        <Th sort={sort("Server")}>Server</Th>
        <Th>Status</Th>
        <Th sort={sort("Calls, 24 h")} className="text-right">
          Calls, 24 h
        </Th>
        <Th className="w-32">
          <span className="sr-only">Calls by hour</span>
        </Th>
        <Th sort={sort("Errors")} className="text-right">
          Errors
        </Th>
        <Th sort={sort("Last call")}>Last call</Th>
        <Th sort={sort("Tools")} className="text-right">
          Tools
        </Th>
        <Th>
          <span className="sr-only">URL</span>
        </Th>
      </TableHead>
      <TableBody>
        {rows.map(({ server, activity }) => (
          <ServerRow
            key={server.id}
            server={server}
            activity={activity}
            orgSlug={orgSlug}
            isSelected={server.name === selected}
          />
        ))}
      </TableBody>
    </Table>
  );
}

type ServerRowProps = Listed & {
  readonly orgSlug: string;
  readonly isSelected: boolean;
};

function ServerRow({ server, activity, orgSlug, isSelected }: ServerRowProps) {
  return (
    <Tr
      aria-current={isSelected ? "true" : undefined}
      className={classNames("relative", isSelected && "bg-accent-soft")}
    >
      <Td wide className="max-w-0 max-sm:max-w-none sm:w-2/5">
        <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
          <ServerIcon name={server.name} url={server.iconUrl} className="size-5" />
          <Link
            to="/$orgSlug/$projectName"
            params={{ orgSlug, projectName: server.pathName }}
            data-row
            className="min-w-0 truncate font-medium underline-offset-3 after:absolute after:inset-0 hover:underline"
          >
            {server.name}
          </Link>
          <AuthModeBadge mode={server.authMode} />
          {server.external ? <Badge tone="info">External</Badge> : null}
        </div>
        <p className="truncate text-xs text-muted">{originOf(server)}</p>
      </Td>
      <Td label="Status" wide>
        <Status server={server} orgSlug={orgSlug} />
      </Td>
      <Td label="Calls, 24 h" className="tabular sm:text-right">
        <Loaded value={activity && formatCount(activity.calls)} isLoading={activity === undefined} />
      </Td>
      <Td className="w-32 max-sm:hidden">
        {activity && activity.calls > 0 ? <Sparkline values={activity.hours} className="h-5" /> : null}
      </Td>
      <Td label="Errors" className="tabular sm:text-right">
        {activity ? <ErrorCount {...activity} /> : <Loaded value={null} isLoading={activity === undefined} />}
      </Td>
      <Td label="Last call" className="whitespace-nowrap text-muted">
        {activity?.lastCall ? <RelativeTime time={activity.lastCall} /> : null}
        {activity && activity.lastCall === null ? "Never" : null}
      </Td>
      <Td label="Tools" className="tabular text-muted sm:text-right">
        {server.live?.tools ?? "–"}
      </Td>
      <Td className="relative z-10 w-10 max-sm:hidden">
        <CopyButton text={server.url} label={`Copy the URL of ${server.name}`} />
      </Td>
    </Tr>
  );
}

function Loaded({ value, isLoading }: { readonly value: string | null | undefined; readonly isLoading: boolean }) {
  return isLoading ? <Skeleton className="ml-auto w-10 max-sm:ml-0" /> : (value ?? "–");
}

/** Live and awake or asleep, and the newest build while it is under way or where it failed. */
function Status({ server, orgSlug }: { readonly server: ProjectListItem; readonly orgSlug: string }) {
  const { latestBuild, live } = server;
  const isOther = latestBuild !== null && latestBuild.id !== live?.buildId && !endedWell.has(latestBuild.status);
  return (
    <span className="flex flex-col items-start gap-0.5">
      <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
        {server.isLive || !isOther ? <LiveLabel server={server} /> : null}
        {live ? <Runs state={server.instanceState ?? "stopped"} /> : null}
      </span>
      {isOther ? (
        <Link
          to="/$orgSlug/$projectName/build-logs/$buildId"
          params={{ orgSlug, projectName: server.pathName, buildId: latestBuild.id }}
          className="relative z-10 inline-flex min-h-6 flex-wrap items-center gap-x-2 text-xs underline-offset-3 hover:underline"
        >
          <span className="sr-only">Latest build: </span>
          <BuildStatusLabel build={latestBuild} warnings={latestBuild.warningCount} />
          <RelativeTime time={latestBuild.createdAt} className="text-muted" />
        </Link>
      ) : null}
    </span>
  );
}

const endedWell: ReadonlySet<string> = new Set(["succeeded", "canceled"]);

function Runs({ state }: { readonly state: NonNullable<ProjectListItem["instanceState"]> }) {
  const { label, level, tone, description } = instanceLooks[state];
  return (
    <span className="inline-flex items-center gap-1.5 text-xs text-muted" title={description}>
      <WaterLevel level={level} tone={tone} />
      {label}
    </span>
  );
}

/** Its source, or its address if it runs elsewhere. */
function originOf({ name, external, source }: ProjectListItem): string {
  if (external) return new URL(external.url).host;
  if (source === null) return "No repository";
  // Its name says nothing more.
  if (source.kind === "repository" && source.name === name.toLowerCase()) return "Repository of this instance";
  return source.kind === "package" ? `Package ${source.name}` : sourceName(source);
}
