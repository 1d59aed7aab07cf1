import type { LogSearch, RequestLogStats } from "@towpath/logs/schema";
import { Pause, Play, X } from "lucide-react";
import { StatusDot } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { Select } from "~/ui/select.tsx";
import { methodOptions, rangeOptions } from "./log-filters.ts";

const noStats = { methods: [], tools: [] };
const statusOptions: { value: LogSearch["status"]; label: string }[] = [
  { value: "all", label: "All outcomes" },
  { value: "error", label: "Errors only" },
  { value: "refused", label: "Refused only" },
];

/** The filters of the log and the pause button. */
export function LogToolbar({
  search,
  onSearch,
  stats,
  live,
  onLive,
}: {
  search: LogSearch;
  onSearch: (change: Partial<LogSearch>) => void;
  stats: RequestLogStats | undefined;
  live: boolean;
  onLive: (live: boolean) => void;
}) {
  return (
    <div className="mb-3 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center">
      <Select
        aria-label="Outcome"
        className="sm:w-36"
        value={search.status}
        onChange={(status) => onSearch({ status })}
        options={statusOptions}
      />
      <Select
        aria-label="Method or tool"
        className="sm:w-60"
        value={search.methodType}
        onChange={(methodType) => onSearch({ methodType })}
        options={methodOptions(stats ?? noStats, search.methodType)}
      />
      <Select
        aria-label="Time range"
        className="sm:w-44"
        value={search.timeRange}
        onChange={(timeRange) => onSearch({ timeRange })}
        options={rangeOptions}
      />
      {search.search !== undefined && (
        <Button
          icon={<X aria-hidden />}
          aria-label={`Remove the search for ${search.search}`}
          className="max-w-64"
          onClick={() => onSearch({ search: undefined })}
        >
          <code className="truncate text-xs">{search.search}</code>
        </Button>
      )}
      <div className="flex items-center justify-end gap-3 sm:ml-auto">
        <span role="status" className="inline-flex items-center gap-1.5 text-xs text-muted">
          <StatusDot tone={live ? "ok" : "neutral"} pulse={live} />
          {live ? "Live" : "Paused"}
        </span>
        <Button icon={live ? <Pause aria-hidden /> : <Play aria-hidden />} onClick={() => onLive(!live)}>
          {live ? "Pause" : "Resume"}
        </Button>
      </div>
    </div>
  );
}
