import { Link } from "@tanstack/react-router";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Card, CardHeader } from "~/ui/card.tsx";
import { ErrorCount } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { formatDuration } from "~/ui/time.tsx";
import { useSorted } from "~/ui/use-sorted.ts";
import type { Overview } from "./overview.functions.ts";

type Tool = Overview["tools"][number];

const sortedBy = {
  Tool: ({ tool }: Tool) => tool,
  Calls: ({ calls }: Tool) => calls,
  Errors: ({ errors }: Tool) => errors,
  "95th percentile": ({ p95Ms }: Tool) => p95Ms,
};
const none: readonly Tool[] = [];

/** The tools that were called most, with errors and 95th percentile. */
export function TopTools({ overview, projectKey }: { overview: Overview | undefined; projectKey: ProjectKey }) {
  const { rows, sort } = useSorted(overview?.tools ?? none, sortedBy);
  const most = Math.max(1, ...rows.map(({ calls }) => calls));
  return (
    <Card className="overflow-hidden">
      <CardHeader title="Top tools" />
      {overview ? null : <SkeletonRows rows={3} label="Loading tools" />}
      {overview && rows.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">No tool was called in the last 24 hours.</p>
      ) : null}
      {rows.length > 0 ? (
        <Table label="Top tools">
          <TableHead>
            <Th sort={sort("Tool")}>Tool</Th>
            <Th sort={sort("Calls")} className="text-right">
              Calls
            </Th>
            <Th sort={sort("Errors")} className="text-right">
              Errors
            </Th>
            <Th sort={sort("95th percentile")} className="text-right">
              95th percentile
            </Th>
          </TableHead>
          <TableBody>
            {rows.map(({ tool, calls, errors, p95Ms }) => (
              <Tr key={tool}>
                <Td wide className="w-1/2 max-w-0 max-sm:max-w-none">
                  <Link
                    to="/$orgSlug/$projectName/tools/{-$toolName}"
                    params={{ ...projectKey, toolName: tool }}
                    className="block truncate font-mono text-xs font-medium underline-offset-3 hover:underline"
                  >
                    {tool}
                  </Link>
                  <span
                    aria-hidden
                    className="mt-1 block h-1 rounded-full bg-accent"
                    style={{ width: `${(calls / most) * 100}%` }}
                  />
                </Td>
                <Td label="Calls" className="tabular sm:text-right">
                  {formatCount(calls)}
                </Td>
                <Td label="Errors" className="tabular sm:text-right">
                  <ErrorCount calls={calls} errors={errors} />
                </Td>
                <Td label="95th percentile" className="tabular whitespace-nowrap sm:text-right">
                  {p95Ms === null ? "–" : formatDuration(p95Ms)}
                </Td>
              </Tr>
            ))}
          </TableBody>
        </Table>
      ) : null}
    </Card>
  );
}
