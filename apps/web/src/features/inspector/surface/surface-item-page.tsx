import { keepPreviousData, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { CloudOff, ScrollText, SearchX, SquareTerminal } from "lucide-react";
import type { ReactNode } from "react";
import { RangeSelect } from "~/features/project/analytics/activity-panel.tsx";
import { RequestChart } from "~/features/project/request-log/request-chart.tsx";
import { PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Badge } from "~/ui/badge.tsx";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { callColumns, isAlarming } from "~/ui/error-count.tsx";
import { Figure, formatCount } from "~/ui/figure.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { Breadcrumbs, PageHeader } from "~/ui/page-header.tsx";
import { formatDuration } from "~/ui/time.tsx";
import { failureText } from "~/ui/toast.ts";
import { type Item, type ItemStats, itemStatsQuery, surfaceQuery } from "./surface.functions.ts";
import { inspectorSearchOf, kindTexts } from "./surface-kinds.ts";
import type { ItemKind } from "./surface-search.ts";

type SurfaceItemPageProps = {
  projectKey: ProjectKey;
  kind: ItemKind;
  /** As the address names it. */
  name: string;
  timeRange: TimeRange;
  onTimeRange: (timeRange: TimeRange) => void;
};

/** A tool, resource, template or prompt: its description, its usage, and its callers (PRJ-7). */
export function SurfaceItemPage({ projectKey, kind, name, timeRange, onTimeRange }: SurfaceItemPageProps) {
  const { data: surface } = useSuspenseQuery(surfaceQuery(projectKey, timeRange));
  const ofKind = surface.items.filter((item) => item.kind === kind);
  const item = ofKind.find((each) => each.name === name) ?? ofKind.find((each) => each.key === name);
  return (
    <>
      <PageHeader
        above={
          <Breadcrumbs
            items={[
              {
                key: "surface",
                content: (
                  <Link to="/$orgSlug/$projectName/surface" params={projectKey} search={{ timeRange }}>
                    Surface
                  </Link>
                ),
              },
              { key: "kind", content: kindTexts[kind].title },
              { key: "item", content: <code>{name}</code> },
            ]}
          />
        }
        title={<span className="font-mono text-xl break-all">{name}</span>}
        description={item?.title === item?.name ? null : item?.title}
        actions={
          <>
            <RangeSelect value={timeRange} onChange={onTimeRange} />
            {item && <ItemLinks item={item} projectKey={projectKey} timeRange={timeRange} />}
          </>
        }
      />
      {item ? (
        <ItemUsage key={item.key} item={item} projectKey={projectKey} timeRange={timeRange} />
      ) : (
        <EmptyState icon={<SearchX />} title={`No ${kindTexts[kind].noun} of this name`}>
          The latest build has no <code className="break-all">{name}</code>. It may have been renamed or removed.
        </EmptyState>
      )}
    </>
  );
}

type ItemProps = { item: Item; projectKey: ProjectKey; timeRange: TimeRange };

function ItemUsage({ item, projectKey, timeRange }: ItemProps) {
  const query = useQuery({ ...itemStatsQuery(projectKey, item, timeRange), placeholderData: keepPreviousData });
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Description item={item} />
      {query.isError ? (
        <EmptyState
          icon={<CloudOff />}
          title="Couldn't load its usage"
          actions={<Button onClick={() => void query.refetch()}>Try again</Button>}
        >
          {failureText(query.error)}
        </EmptyState>
      ) : (
        <>
          <UsageFigures stats={query.data?.stats} />
          {query.data && <Callers callers={query.data.callers} />}
        </>
      )}
    </div>
  );
}

function Description({ item }: { item: Item }) {
  const { argumentErrors } = item.usage;
  return (
    <Card aria-label={item.name}>
      <CardBody className="pt-3.5 text-sm">
        {item.key !== item.name && <code className="text-xs break-all text-muted">{item.key}</code>}
        {item.description && (
          <p className="max-w-prose break-words whitespace-pre-line text-muted">{item.description}</p>
        )}
        <p className="mt-2 flex flex-wrap items-center gap-2 text-xs text-muted">
          {item.mimeType && <Badge>{item.mimeType}</Badge>}
          {item.isAllowed === false && <Badge tone="warn">Callers may not use it</Badge>}
          About {formatCount(item.tokens)} tokens in the server's list
          {argumentErrors
            ? `. It refused the arguments of ${argumentErrors === 1 ? "one call" : `${formatCount(argumentErrors)} calls`}`
            : "."}
        </p>
        {item.schema && (
          <details className="mt-3">
            <summary className="w-fit rounded-sm text-muted hover:text-ink">
              {item.kind === "prompt" ? "Arguments" : "Schema"}
            </summary>
            <div className="mt-2">
              <JsonTree value={item.schema} openTo={3} />
            </div>
          </details>
        )}
      </CardBody>
    </Card>
  );
}

function ItemLinks({ item, projectKey, timeRange }: ItemProps): ReactNode {
  const filter = {
    tool: { methodType: `tool:${item.key}` },
    resource: { methodType: "resources/read", target: item.key },
    // The log can't be filtered by a template: its text up to the first variable is the nearest.
    template: { methodType: "resources/read", search: item.key.split("{")[0] ?? "" },
    prompt: { methodType: "prompts/get", target: item.key },
  }[item.kind];
  return (
    <>
      <Link
        to="/$orgSlug/$projectName/inspector"
        params={projectKey}
        search={inspectorSearchOf(item.kind, item.key)}
        className={buttonLook()}
      >
        <SquareTerminal />
        Inspector
      </Link>
      <Link
        to="/$orgSlug/$projectName/logs"
        params={projectKey}
        search={{ ...filter, timeRange }}
        className={buttonLook()}
      >
        <ScrollText />
        Log
      </Link>
    </>
  );
}

function UsageFigures({ stats }: { stats: ItemStats["stats"] | undefined }) {
  const duration = (ms: number | null | undefined) =>
    ms === undefined ? undefined : ms === null ? "–" : formatDuration(ms);
  return (
    <Card className="px-4 py-3" aria-label="Usage">
      <dl className="mb-3 grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-5">
        <Figure name="Calls" value={stats && formatCount(stats.total)} />
        <Figure
          name="Errors"
          value={stats && formatCount(stats.errors)}
          bad={stats !== undefined && isAlarming({ calls: stats.total, errors: stats.errors })}
        />
        <Figure name="Median" value={duration(stats?.p50Ms)} />
        <Figure name="95th percentile" value={duration(stats?.p95Ms)} />
        <Figure name="99th percentile" value={duration(stats?.p99Ms)} />
      </dl>
      {stats ? <RequestChart stats={stats} /> : <Skeleton className="h-28.5" />}
    </Card>
  );
}

type Caller = ItemStats["callers"]["data"][number];

const columns: readonly Column<Caller>[] = [
  leadColumn("User", ({ principal }) => principal.name, {
    cell: ({ principal }) => <PrincipalLabel principal={principal} />,
    headClassName: "w-2/5",
    className: "max-w-0 max-sm:max-w-none",
  }),
  {
    name: "Client",
    by: ({ client }) => client,
    wide: true,
    headClassName: "w-1/4",
    cell: ({ client }) => client ?? "Unknown client",
    className: "max-w-0 truncate text-muted max-sm:max-w-none",
  },
  ...callColumns<Caller>(),
  timeColumn("Last call", ({ lastSeen }) => lastSeen, {
    headClassName: "text-right",
    className: "whitespace-nowrap text-muted sm:text-right",
  }),
];

function Callers({ callers }: { callers: ItemStats["callers"] }) {
  if (callers.data.length === 0) {
    return (
      <Card>
        <EmptyState title="Nobody used it in this period">
          Choose a longer time range, or call it in the inspector.
        </EmptyState>
      </Card>
    );
  }
  const keyOf = ({ principal, client }: Caller) => `${principal.id} ${client}`;
  return (
    <Card>
      <CardHeader title="Who used it" description={`In the latest ${callers.looked} calls.`} />
      <DataTable label="Who used it" rows={callers.data} keyOf={keyOf} columns={columns} />
    </Card>
  );
}
