import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { CloudOff, ScrollText, SquareTerminal } from "lucide-react";
import type { ReactNode } from "react";
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
import { formatDuration } from "~/ui/time.tsx";
import { failureText } from "~/ui/toast.ts";
import { type ItemKind, kindTexts } from "./item-kinds.ts";
import { type Item, type ItemStats, itemStatsQuery } from "./items.functions.ts";

type ItemUsagePanelProps = {
  kind: ItemKind;
  item: Item;
  projectKey: ProjectKey;
  timeRange: TimeRange;
};

/** An item's description, its usage, and its callers (PRJ-7). */
export function ItemUsagePanel({ kind, item, projectKey, timeRange }: ItemUsagePanelProps) {
  const query = useQuery({
    ...itemStatsQuery(projectKey, kind, item.key, timeRange),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Card aria-label={item.name}>
        <CardHeader
          title={<span className="font-mono break-all">{item.name}</span>}
          {...(item.title && item.title !== item.name ? { description: item.title } : {})}
          actions={<ItemLinks kind={kind} item={item} projectKey={projectKey} timeRange={timeRange} />}
        />
        <CardBody>
          {item.key !== item.name && <code className="text-xs break-all text-muted">{item.key}</code>}
          {item.mimeType && (
            <p className="mt-1">
              <Badge>{item.mimeType}</Badge>
            </p>
          )}
          {item.description && (
            <p className="mt-1 max-w-prose text-sm break-words whitespace-pre-line text-muted">{item.description}</p>
          )}
          {item.schema && (
            <details className="mt-3 text-sm">
              <summary className="w-fit rounded-sm text-muted hover:text-ink">
                {kind === "prompt" ? "Arguments" : "Schema"}
              </summary>
              <div className="mt-2">
                <JsonTree value={item.schema} openTo={3} />
              </div>
            </details>
          )}
        </CardBody>
      </Card>
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

function ItemLinks({ kind, item, projectKey, timeRange }: Parameters<typeof ItemUsagePanel>[0]): ReactNode {
  const { tab, parameter } = kindTexts[kind];
  const filter = {
    tool: { methodType: `tool:${item.key}` },
    resource: { methodType: "resources/read", target: item.key },
    // The log can't be filtered by a template: its text up to the first variable is the nearest.
    template: { methodType: "resources/read", search: item.key.split("{")[0] ?? "" },
    prompt: { methodType: "prompts/get", target: item.key },
  }[kind];
  return (
    <>
      <Link
        to="/$orgSlug/$projectName/inspector"
        params={projectKey}
        search={{ tab, [parameter]: item.key }}
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
