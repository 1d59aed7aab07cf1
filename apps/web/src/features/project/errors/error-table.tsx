import { Link } from "@tanstack/react-router";
import type { ErrorSummary } from "@towpath/core/operations/error-group/schema";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Badge } from "~/ui/badge.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Sparkline } from "~/ui/sparkline.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";

type ErrorTableProps = {
  readonly projectKey: ProjectKey;
  readonly rows: readonly ErrorSummary[];
  readonly chosen: ReadonlySet<string>;
  /** Null: the reader may not change errors. */
  readonly onToggle: ((id: string) => void) | null;
  readonly onAll: (all: boolean) => void;
};

/** Errors with their course in the last day. */
export function ErrorTable({ projectKey, rows, chosen, onToggle, onAll }: ErrorTableProps) {
  const areAll = rows.every(({ id }) => chosen.has(id));
  return (
    <Table label="Errors">
      <TableHead>
        {onToggle ? (
          <Th className="w-8">
            <Checkbox checked={areAll} onChange={onAll}>
              <span className="sr-only">Select all errors</span>
            </Checkbox>
          </Th>
        ) : null}
        <Th>Error</Th>
        <Th className="w-32">Last 24 hours</Th>
        <Th className="text-right">Failures</Th>
        <Th>Last seen</Th>
        <Th className="max-lg:hidden">First seen</Th>
      </TableHead>
      <TableBody>
        {rows.map((row) => (
          <Tr key={row.id} className="relative has-[[data-row]:focus-visible]:bg-accent-soft">
            {onToggle ? (
              <Td className="w-8 align-top max-sm:absolute max-sm:top-3 max-sm:right-4">
                <span className="relative z-10 block pt-0.5">
                  <Checkbox checked={chosen.has(row.id)} onChange={() => onToggle(row.id)}>
                    <span className="sr-only">Select {row.title}</span>
                  </Checkbox>
                </span>
              </Td>
            ) : null}
            <Td wide className="max-sm:pr-14! sm:w-1/2 sm:max-w-0">
              <Title projectKey={projectKey} row={row} />
            </Td>
            <Td label="Last 24 hours">
              <Sparkline values={row.lastDay} tone="bad" className="max-w-32" />
            </Td>
            <Td label="Failures" className="tabular sm:text-right">
              {formatCount(row.count)}
            </Td>
            <Td label="Last seen" className="whitespace-nowrap text-muted">
              <RelativeTime time={row.lastSeen} />
            </Td>
            <Td label="First seen" className="whitespace-nowrap text-muted max-lg:hidden max-sm:block">
              <RelativeTime time={row.firstSeen} />
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}

function Title({ projectKey, row }: { readonly projectKey: ProjectKey; readonly row: ErrorSummary }) {
  return (
    <>
      <span className="flex min-w-0 items-center gap-2">
        <Link
          to="/$orgSlug/$projectName/errors/$errorId"
          params={{ ...projectKey, errorId: row.id }}
          data-row={row.id}
          className="min-w-0 font-medium wrap-anywhere underline-offset-3 sm:truncate after:absolute after:inset-0 hover:underline focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
        >
          {row.title}
        </Link>
        <Freshness error={row} />
      </span>
      <Place error={row} className="mt-0.5 block truncate text-xs text-muted" />
    </>
  );
}

const dayMs = 86_400_000;

/** Whether an open error is new or came back within a day. */
export function Freshness({ error }: { readonly error: Pick<ErrorSummary, "state" | "isBack" | "openedAt"> }) {
  if (error.state !== "open") return null;
  if (error.isBack) return <Badge tone="bad">Back again</Badge>;
  return Date.now() - Date.parse(error.openedAt) < dayMs ? <Badge tone="warn">New</Badge> : null;
}

/** The tool, and where in the server's own code. */
export function Place({ error, className }: { readonly error: ErrorSummary; readonly className?: string }) {
  const { target, method, frame, isOverflow } = error;
  if (isOverflow) return <span className={className}>Beyond the 500 open errors that a server can have</span>;
  return (
    <span className={className}>
      <code>{target ?? method ?? "The whole server"}</code>
      {frame ? (
        <>
          {" · "}
          <code>
            {frame.file}:{frame.line}
          </code>{" "}
          in <code>{frame.name}</code>
        </>
      ) : null}
    </span>
  );
}
