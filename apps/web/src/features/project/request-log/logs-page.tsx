import { useQuery } from "@tanstack/react-query";
import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { LogFilters, LogSearch } from "@towpath/logs/schema";
import { asksForMethod, hasStatistics, logQueryFromFilters, periodOfSearch } from "@towpath/logs/search";
import { ArrowUp, Download } from "lucide-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ViewsButton } from "~/features/shared/saved-views/views-button.tsx";
import { Button } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { Menu, MenuGroup, MenuItem } from "~/ui/menu.tsx";
import { PageHeader } from "~/ui/page-header.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import { limitedSearch, withFilters } from "./log-filters.ts";
import { LiveButton, PeriodSelect, ProtocolSwitch } from "./log-toolbar.tsx";
import { useProtocolChoice } from "./protocol-choice.ts";
import { FilterChips } from "./query-bar/filter-chips.tsx";
import { QueryBar } from "./query-bar/query-bar.tsx";
import { logValuesQuery } from "./request-log.functions.ts";
import { RequestTable } from "./request-table.tsx";
import { StatsPanel } from "./stats-panel.tsx";
import { useRequestLogs } from "./use-request-logs.ts";

const LogFailure = lazyPart(async () => (await import("./log-states.tsx")).LogFailure);
const NoRows = lazyPart(async () => (await import("./log-states.tsx")).NoRows);

type LogsPageProps = {
  projectKey: ProjectKey;
  search: LogSearch;
  onSearch: (search: LogSearch) => void;
  /** The request whose details are open. */
  openId: string | null;
  onOpen: (id: string | null) => void;
};

/** Every call to the server as it happens (PRJ-5). */
export function LogsPage({ projectKey, search, onSearch, openId, onOpen }: LogsPageProps) {
  const [remembered, remember] = useProtocolChoice();
  const showsProtocol = search.protocol ?? remembered;
  const top = useRef<HTMLDivElement>(null);
  const table = useRef<HTMLDivElement>(null);
  const isAtTop = useAtTop(top);
  const logs = useRequestLogs(projectKey, search, showsProtocol, isAtTop && openId === null);
  const { data: known } = useQuery(logValuesQuery(projectKey, search.timeRange));
  const versions = new Map(known?.deployments.map((deployed) => [deployed.id, versionText(deployed)]));
  const open = logs.rows.find((row) => row.id === openId) ?? null;
  const [detail, preloadDetail] = useLazyModule(
    () => import("./request-detail.tsx"),
    openId !== null,
    () => onOpen(null),
  );
  const onFilters = (filters: LogFilters) => onSearch(withFilters(search, filters));
  const change = (next: Partial<LogSearch>) => onSearch({ ...search, ...next });
  const showProtocol = (shown: boolean) => {
    remember(shown);
    change({ protocol: undefined });
  };
  const showNew = () => {
    onOpen(null);
    logs.showNew();
    top.current?.scrollIntoView({ block: "end" });
  };
  const leaveBar = () => table.current?.querySelector<HTMLElement>("button[data-row][tabindex='0']")?.focus();
  return (
    <>
      <PageHeader
        title="Logs"
        description="One row for every message through the gateway."
        actions={<ExportMenu projectKey={projectKey} search={search} showsProtocol={showsProtocol} />}
      />
      <div className="mb-3 flex flex-wrap items-start gap-2">
        <QueryBar filters={search} onFilters={onFilters} values={known?.values} onLeave={leaveBar} />
        <PeriodSelect search={search} onSearch={change} />
        <ViewsButton list="requests" />
        {logs.isFixed ? null : <LiveButton paused={logs.paused} onPause={logs.setPaused} />}
      </div>
      <FilterChips filters={search} onFilters={onFilters} />
      <StatsPanel
        stats={logs.stats}
        deployments={known?.deployments ?? []}
        onPeriod={(from, to) => change({ from: new Date(from).toISOString(), to: new Date(to - 1).toISOString() })}
        onShowRefused={() => onFilters({ status: "refused", methodType: "all" })}
        onShowLimited={() => onFilters(limitedSearch)}
      />
      {hasStatistics(search) ? null : (
        <p className="mt-1.5 text-xs text-muted">
          Chart and figures leave out the filters for clients, users, sessions, durations and text.
        </p>
      )}
      <div ref={top} />
      <div className="mt-3 mb-2 flex min-h-8 flex-wrap items-center justify-between gap-2">
        <ProtocolSwitch shown={showsProtocol} onChange={showProtocol} disabled={asksForMethod(search)} />
        <span aria-live="polite">
          {logs.newRows > 0 ? (
            <Button size="sm" variant="primary" icon={<ArrowUp />} onClick={showNew}>
              {logs.newRows >= 100 ? "100+" : logs.newRows} new
            </Button>
          ) : null}
        </span>
      </div>
      <Card ref={table} onPointerEnter={preloadDetail} onFocus={preloadDetail}>
        {logs.loading ? <SkeletonRows rows={8} label="Loading requests" /> : null}
        {logs.rows.length > 0 ? (
          <RequestTable
            rows={logs.rows}
            versions={versions}
            openId={openId}
            onOpen={onOpen}
            older={
              logs.hasOlder ? (
                <Button busy={logs.loadingOlder} onClick={logs.showOlder}>
                  Show older
                </Button>
              ) : null
            }
          />
        ) : null}
        {logs.error && !logs.loading && logs.rows.length === 0 ? (
          <LogFailure error={logs.error} onRetry={logs.retry} search={search} onSearch={onSearch} />
        ) : null}
        {!logs.error && !logs.loading && logs.rows.length === 0 ? (
          <NoRows
            projectKey={projectKey}
            search={search}
            onSearch={onSearch}
            hidden={showsProtocol ? 0 : protocolCount(known?.values.method)}
            onShowProtocol={() => showProtocol(true)}
          />
        ) : null}
      </Card>
      {detail && <detail.RequestDetail projectKey={projectKey} id={openId} row={open} onClose={() => onOpen(null)} />}
    </>
  );
}

/** When no rows are shown, all calls are the protocol's. */
const protocolCount = (methods: readonly { readonly calls?: number }[] = []): number =>
  methods.reduce((sum, { calls = 0 }) => sum + calls, 0);

/** Whether an element's top is scrolled into view; true while unknown. */
function useAtTop(element: RefObject<HTMLElement | null>): boolean {
  const [isAtTop, setAtTop] = useState(true);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry) setAtTop(entry.isIntersecting || entry.boundingClientRect.top > 0);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isAtTop;
}

type ExportMenuProps = {
  projectKey: ProjectKey;
  search: LogSearch;
  showsProtocol: boolean;
};

/** Downloads the filtered rows. */
function ExportMenu({ projectKey, search, showsProtocol }: ExportMenuProps) {
  const download = (format: string) => window.location.assign(exportHref(projectKey, search, showsProtocol, format));
  return (
    <Menu trigger={<Button icon={<Download />}>Export</Button>}>
      <MenuGroup label="The newest 10,000 matching rows">
        <MenuItem onClick={() => download("jsonl")}>JSON Lines</MenuItem>
        <MenuItem onClick={() => download("csv")}>CSV</MenuItem>
      </MenuGroup>
    </Menu>
  );
}

function exportHref(key: ProjectKey, search: LogSearch, showsProtocol: boolean, format: string): string {
  const { user, deployment } = search;
  const { startDate, endDate, timeRange } = periodOfSearch(search);
  const dates = { startDate: isoOf(startDate), endDate: isoOf(endDate), timeRange };
  const asked = { format, user, deployment, ...logQueryFromFilters(search, showsProtocol), ...dates };
  const parameters = Object.entries(asked).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const path = [key.orgSlug, key.projectName].map(encodeURIComponent).join("/");
  return `/api/projects/${path}/request-log?${new URLSearchParams(parameters)}`;
}

const isoOf = (date: unknown) => (date instanceof Date ? date.toISOString() : undefined);
