import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { LogSearch } from "@towpath/logs/schema";
import { accessOf, clientGuides } from "@towpath/mcp/connect";
import { Activity, CloudOff, SearchX } from "lucide-react";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { failureText } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQuery } from "../project-screen/project-screen.functions.ts";
import { isFiltered, limitedSearch, timeRangeLabels } from "./log-filters.ts";
import { LogToolbar } from "./log-toolbar.tsx";
import { RequestDetail } from "./request-detail.tsx";
import { RequestTable } from "./request-table.tsx";
import { StatsPanel } from "./stats-panel.tsx";
import { useRequestLogs } from "./use-request-logs.ts";

/** Every call to the server as it happens (PRJ-5). */
export function LogsPage({
  projectKey,
  search,
  onSearch,
  openId,
  onOpen,
}: {
  projectKey: ProjectKey;
  search: LogSearch;
  onSearch: (change: Partial<LogSearch>) => void;
  /** The request whose details are open. */
  openId: string | null;
  onOpen: (id: string | null) => void;
}) {
  const logs = useRequestLogs(projectKey, search);
  const open = logs.rows.find((row) => row.id === openId) ?? null;
  return (
    <>
      <PageHeader title="Logs" description="One row for every message that passes the gateway." />
      <LogToolbar search={search} onSearch={onSearch} stats={logs.stats} live={logs.live} onLive={logs.setLive} />
      {search.search === undefined && (logs.stats === undefined || logs.stats.total > 0) && (
        <StatsPanel
          stats={logs.stats}
          onShowRefused={() => onSearch({ status: "refused" })}
          onShowLimited={() => onSearch({ status: limitedSearch.status, search: limitedSearch.search })}
        />
      )}
      <Card className="mt-3">
        <Rows logs={logs} projectKey={projectKey} search={search} onSearch={onSearch} openId={openId} onOpen={onOpen} />
        {logs.hasOlder && (
          <div className="flex justify-center border-t p-3">
            <Button busy={logs.loadingOlder} onClick={logs.showOlder}>
              Show older
            </Button>
          </div>
        )}
      </Card>
      <RequestDetail projectKey={projectKey} id={openId} row={open} onClose={() => onOpen(null)} />
    </>
  );
}

function Rows({
  logs,
  projectKey,
  search,
  onSearch,
  openId,
  onOpen,
}: {
  logs: ReturnType<typeof useRequestLogs>;
  projectKey: ProjectKey;
  search: LogSearch;
  onSearch: (change: Partial<LogSearch>) => void;
  openId: string | null;
  onOpen: (id: string) => void;
}) {
  if (logs.loading) return <SkeletonRows rows={8} label="Loading requests" />;
  if (logs.rows.length > 0) return <RequestTable rows={logs.rows} openId={openId} onOpen={onOpen} />;
  if (logs.error) {
    return (
      <EmptyState
        icon={<CloudOff aria-hidden />}
        title="The log could not be read"
        actions={<Button onClick={logs.retry}>Try again</Button>}
      >
        {failureText(logs.error)} Calls are still recorded.
      </EmptyState>
    );
  }
  if (isFiltered(search)) {
    return (
      <EmptyState
        icon={<SearchX aria-hidden />}
        title="No matching calls"
        actions={
          <Button onClick={() => onSearch({ status: "all", methodType: "all", search: undefined })}>
            Clear the filters
          </Button>
        }
      >
        Nothing of this kind in the {timeRangeLabels[search.timeRange].toLowerCase()}.
      </EmptyState>
    );
  }
  return <FirstCall projectKey={projectKey} search={search} onSearch={onSearch} />;
}

function FirstCall({
  projectKey,
  search,
  onSearch,
}: {
  projectKey: ProjectKey;
  search: LogSearch;
  onSearch: (change: Partial<LogSearch>) => void;
}) {
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  if (!project.isLive) {
    return (
      <EmptyState
        icon={<Activity aria-hidden />}
        title="Nothing is live yet"
        actions={
          <Link to="/$orgSlug/$projectName/deployments" params={projectKey} className={buttonLook()}>
            Go to deployments
          </Link>
        }
      >
        Once a build succeeds, every call to the server appears here.
      </EmptyState>
    );
  }
  const command = clientGuides(project, accessOf(project.authMode)).find(({ id }) => id === "inspector")?.snippet;
  return (
    <EmptyState
      className="max-w-xl"
      icon={<Activity aria-hidden />}
      title={`No calls in the ${timeRangeLabels[search.timeRange].toLowerCase()}`}
      actions={
        <>
          <Link
            to="/$orgSlug/$projectName/inspector"
            params={projectKey}
            className={buttonLook({ variant: "primary" })}
          >
            Call a tool in the inspector
          </Link>
          {search.timeRange !== "30d" && (
            <Button onClick={() => onSearch({ timeRange: "30d" })}>Show the last 30 days</Button>
          )}
        </>
      }
    >
      <p>Each call appears here within two seconds. To make one from a terminal:</p>
      {command && <CodeBlock code={command.code} label="command" wrap className="mt-3 text-left text-ink" />}
    </EmptyState>
  );
}
