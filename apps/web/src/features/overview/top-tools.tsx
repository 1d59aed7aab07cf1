import { Link } from "@tanstack/react-router";
import { Card, CardHeader } from "~/ui/card.tsx";
import { ErrorCount } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { formatDuration } from "~/ui/time.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import type { Overview } from "./overview.functions.ts";

/** The tools that were called most, with errors and 95th percentile. */
export function TopTools({ overview, projectKey }: { overview: Overview | undefined; projectKey: ProjectKey }) {
  const most = Math.max(1, ...(overview?.tools ?? []).map(({ calls }) => calls));
  return (
    <Card className="overflow-hidden">
      <CardHeader title="Top tools" />
      {overview ? null : <SkeletonRows rows={3} label="Loading tools" />}
      {overview?.tools.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">No tool was called in the last 24 hours.</p>
      ) : null}
      {overview && overview.tools.length > 0 ? (
        <Table label="Top tools">
          <TableHead>
            <Th>Tool</Th>
            <Th className="text-right">Calls</Th>
            <Th className="text-right">Errors</Th>
            <Th className="text-right">95th percentile</Th>
          </TableHead>
          <TableBody>
            {overview.tools.map(({ tool, calls, errors, p95Ms }) => (
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
