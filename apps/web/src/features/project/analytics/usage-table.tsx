import type { UsageItem } from "@towpath/logs/sessions";
import { ErrorCount } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { formatDuration } from "~/ui/time.tsx";
import { useSorted } from "~/ui/use-sorted.ts";

const sortedBy = {
  "What was called": ({ method, target }: UsageItem) => `${method ?? ""} ${target ?? ""}`,
  Calls: ({ calls }: UsageItem) => calls,
  Errors: ({ errors }: UsageItem) => errors,
  Median: ({ p50Ms }: UsageItem) => p50Ms,
  "95th percentile": ({ p95Ms }: UsageItem) => p95Ms,
};

/** Called items with counts, errors and durations. */
export function UsageTable({ rows: unsorted }: { rows: readonly UsageItem[] }) {
  const { rows, sort } = useSorted(unsorted, sortedBy);
  return (
    <Table label="Usage">
      <TableHead>
        <Th className="w-1/2" sort={sort("What was called")}>
          What was called
        </Th>
        <Th className="text-right" sort={sort("Calls")}>
          Calls
        </Th>
        <Th className="text-right" sort={sort("Errors")}>
          Errors
        </Th>
        <Th className="text-right" sort={sort("Median")}>
          Median
        </Th>
        <Th className="text-right" sort={sort("95th percentile")}>
          95th percentile
        </Th>
      </TableHead>
      <TableBody>
        {rows.map((row) => (
          <Tr key={`${row.method} ${row.target}`}>
            <Td wide className="max-w-0 truncate font-mono text-xs max-sm:max-w-none">
              {row.method ?? "Other requests"} <span className="text-accent-text">{row.target}</span>
            </Td>
            <Td label="Calls" className="tabular sm:text-right">
              {formatCount(row.calls)}
            </Td>
            <Td label="Errors" className="tabular sm:text-right">
              <ErrorCount {...row} />
            </Td>
            <Td label="Median" className="tabular text-muted sm:text-right">
              {formatDuration(row.p50Ms)}
            </Td>
            <Td label="95th percentile" className="tabular text-muted sm:text-right">
              {formatDuration(row.p95Ms)}
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}
