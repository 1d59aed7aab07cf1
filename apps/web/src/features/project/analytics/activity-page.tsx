import type { TimeRange } from "@towpath/logs/schema";
import type { ActivityTimeseries } from "@towpath/logs/sessions";
import { lazy, type ReactNode, Suspense } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { Button } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { type ActivityFigure, ActivityPanel, RangeSelect } from "./activity-panel.tsx";

// For lists that are still empty only.
const CallCommand = lazy(() => import("~/features/project/clients/call-command.tsx"));

/** The page of all sessions or all users: figures and a chart of the range, and a list that grows by pages. */
export function ActivityPage(page: {
  title: string;
  description: string;
  timeRange: TimeRange;
  onTimeRange: (timeRange: TimeRange) => void;
  projectKey: ProjectKey;
  /** Of its saved views. */
  list: "sessions" | "users";
  /** Null: the figures could not be read; only the list is shown. */
  panel: {
    readonly figures: readonly ActivityFigure[];
    readonly series: ActivityTimeseries | undefined;
    readonly noun: string;
  } | null;
  /** Null: nothing happened in the range. */
  table: ReactNode | null;
  empty: { readonly icon: ReactNode; readonly title: string; readonly text: string };
  rows: { readonly hasNextPage: boolean; readonly isFetchingNextPage: boolean; fetchNextPage(): Promise<unknown> };
}) {
  const { title, timeRange, onTimeRange, panel, table, empty, rows } = page;
  return (
    <>
      <PageHeader
        title={title}
        description={page.description}
        actions={
          <>
            <RangeSelect value={timeRange} onChange={onTimeRange} />
            <ViewsButton list={page.list} />
          </>
        }
      />
      {panel && <ActivityPanel {...panel} />}
      <Card>
        {table ?? (
          <EmptyState
            icon={empty.icon}
            title={empty.title}
            example={
              <Suspense>
                <CallCommand projectKey={page.projectKey} />
              </Suspense>
            }
            docs={["clients", "Connect a client"]}
            actions={timeRange !== "30d" && <Button onClick={() => onTimeRange("30d")}>Show the last 30 days</Button>}
          >
            {empty.text}
          </EmptyState>
        )}
        {rows.hasNextPage && (
          <div className="flex justify-center border-t p-3">
            <Button busy={rows.isFetchingNextPage} onClick={() => void rows.fetchNextPage()}>
              Show older {title.toLowerCase()}
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}
