import { Link } from "@tanstack/react-router";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Card, CardHeader } from "~/ui/card.tsx";
import { type Column, DataTable, leadColumn, numberColumn } from "~/ui/data-table.tsx";
import { callColumns } from "~/ui/error-count.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { formatDuration } from "~/ui/time.tsx";
import type { Overview } from "./overview.functions.ts";

type Tool = Overview["tools"][number];

const keyOf = ({ tool }: Tool) => tool;

/** The tools that were called most, with errors and 95th percentile. */
export function TopTools({ overview, projectKey }: { overview: Overview | undefined; projectKey: ProjectKey }) {
  const rows = overview?.tools ?? [];
  const most = Math.max(1, ...rows.map(({ calls }) => calls));
  const columns: readonly Column<Tool>[] = [
    leadColumn("Tool", keyOf, {
      cell: ({ tool, calls }) => (
        <>
          <Link
            to="/$orgSlug/$projectName/surface/$itemKind/$itemName"
            params={{ ...projectKey, itemKind: "tool", itemName: tool }}
            className="block truncate font-mono text-xs font-medium underline-offset-3 hover:underline"
          >
            {tool}
          </Link>
          <span
            aria-hidden
            className="mt-1 block h-1 rounded-full bg-accent"
            style={{ width: `${(calls / most) * 100}%` }}
          />
        </>
      ),
      className: "w-1/2 max-w-0 max-sm:max-w-none",
    }),
    ...callColumns<Tool>(),
    numberColumn("95th percentile", ({ p95Ms }) => p95Ms, formatDuration, "whitespace-nowrap"),
  ];
  return (
    <Card className="overflow-hidden">
      <CardHeader title="Top tools" />
      {overview ? null : <SkeletonRows rows={3} label="Loading tools" />}
      {overview && rows.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">No tool was called in the last 24 hours.</p>
      ) : null}
      {rows.length > 0 ? <DataTable label="Top tools" rows={rows} keyOf={keyOf} columns={columns} /> : null}
    </Card>
  );
}
