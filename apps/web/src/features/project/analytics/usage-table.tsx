import type { UsageItem } from "@towpath/logs/sessions";
import { type Column, DataTable, leadColumn, numberColumn } from "~/ui/data-table.tsx";
import { callColumns } from "~/ui/error-count.tsx";
import { formatDuration } from "~/ui/time.tsx";

const columns: readonly Column<UsageItem>[] = [
  leadColumn("What was called", ({ method, target }) => `${method ?? ""} ${target ?? ""}`, {
    cell: ({ method, target }) => (
      <>
        {method ?? "Other requests"} <span className="text-accent-text">{target}</span>
      </>
    ),
    headClassName: "w-1/2",
    className: "max-w-0 truncate font-mono text-xs max-sm:max-w-none",
  }),
  ...callColumns<UsageItem>(),
  numberColumn("Median", ({ p50Ms }) => p50Ms, formatDuration, "text-muted"),
  numberColumn("95th percentile", ({ p95Ms }) => p95Ms, formatDuration, "text-muted"),
];

/** What was called, how often, with how many errors and how fast. */
export function UsageTable({ rows }: { rows: readonly UsageItem[] }) {
  return <DataTable label="Usage" rows={rows} keyOf={(row) => `${row.method} ${row.target}`} columns={columns} />;
}
