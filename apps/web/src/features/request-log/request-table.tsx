import type { RequestLogEntry } from "@towpath/logs/schema";
import { Timer } from "lucide-react";
import type { KeyboardEvent } from "react";
import { StatusDot, type Tone } from "~/ui/badge.tsx";
import { classNames } from "~/ui/class-names.ts";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { formatAbsoluteTime, formatDuration } from "~/ui/time.tsx";

/** Moves focus to the previous or next row's button; `onMove` may then open that row. */
function moveFocus(event: KeyboardEvent<HTMLElement>, onMove: (id: string) => void): void {
  const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("button[data-row]")];
  const at = buttons.findIndex((button) => button.matches(":focus"));
  const next = buttons[Math.min(Math.max(at + by, 0), buttons.length - 1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
  onMove(next.dataset.row ?? "");
}

/** Calls, newest first. Arrow keys or j and k move focus, Enter opens. */
export function RequestTable({
  rows,
  openId,
  onOpen,
}: {
  rows: readonly RequestLogEntry[];
  openId: string | null;
  onOpen: (id: string) => void;
}) {
  return (
    <Table label="Requests">
      <TableHead>
        <Th>Time</Th>
        <Th>Outcome</Th>
        <Th className="w-1/2">Method</Th>
        <Th>Client</Th>
        <Th className="text-right">Duration</Th>
      </TableHead>
      <TableBody onKeyDown={(event) => moveFocus(event, (id) => openId !== null && onOpen(id))}>
        {rows.map((row) => (
          <RequestRow key={row.id} row={row} open={row.id === openId} onOpen={onOpen} />
        ))}
      </TableBody>
    </Table>
  );
}

function RequestRow({ row, open, onOpen }: { row: RequestLogEntry; open: boolean; onOpen: (id: string) => void }) {
  return (
    <Tr className={classNames("relative", open && "bg-accent-soft hover:bg-accent-soft")}>
      <Td className="h-8 whitespace-nowrap text-muted">
        <time dateTime={row.time} title={formatAbsoluteTime(Date.parse(row.time))} suppressHydrationWarning>
          {clock(row.time)}
        </time>
      </Td>
      <Td className="h-8 max-sm:text-right">
        <OutcomeLabel entry={row} />
      </Td>
      <Td wide className="h-8 max-w-0 max-sm:row-start-1 max-sm:max-w-none">
        <button
          type="button"
          data-row={row.id}
          aria-haspopup="dialog"
          onClick={() => onOpen(row.id)}
          className="block w-full truncate text-left font-mono text-xs after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
        >
          {row.method ?? `${row.httpMethod} ${row.kind}`}
          {row.target !== null && <span className="text-accent-text"> {row.target}</span>}
          {row.errorMessage !== null && (
            <span className={row.isRefused ? "text-muted" : "text-bad"}> {row.errorMessage}</span>
          )}
        </button>
      </Td>
      <Td className="h-8 max-w-44 truncate text-muted">{row.client ?? <span className="text-faint">unknown</span>}</Td>
      <Td className="tabular h-8 text-right whitespace-nowrap text-muted">
        <span className="inline-flex items-center gap-1.5">
          {row.heldMs >= 1 && (
            <span title={`${formatDuration(row.heldMs)} of it held while the server started or woke`}>
              <Timer className="size-3.5 text-faint" aria-hidden />
              <span className="sr-only">Held {formatDuration(row.heldMs)} for a start or wake, of</span>
            </span>
          )}
          {formatDuration(row.durationMs)}
        </span>
      </Td>
    </Tr>
  );
}

/** Time of day in the user's time zone, to the millisecond. */
function clock(time: string): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

const labels: Record<string, { label: string; tone: Tone }> = {
  ok: { label: "OK", tone: "ok" },
  rpc_error: { label: "Protocol error", tone: "bad" },
  tool_error: { label: "Tool error", tone: "bad" },
  http_error: { label: "HTTP error", tone: "bad" },
  input_required: { label: "Asks for input", tone: "info" },
  canceled: { label: "Canceled", tone: "neutral" },
  closed_by_client: { label: "Closed by client", tone: "neutral" },
  closed_by_server: { label: "Closed by server", tone: "neutral" },
  gateway_error: { label: "Gateway error", tone: "bad" },
};

/** By the gateway, before a server was asked: not an error of the server. */
const refused = { label: "Refused", tone: "warn" } as const satisfies { label: string; tone: Tone };

/** How an exchange ended, with its HTTP status. */
export function OutcomeLabel({
  entry,
}: {
  entry: Pick<RequestLogEntry, "outcome" | "httpStatus" | "isError" | "isRefused">;
}) {
  const look = entry.isRefused
    ? refused
    : (labels[entry.outcome] ?? { label: entry.outcome, tone: entry.isError ? "bad" : "neutral" });
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <StatusDot tone={look.tone} />
      <span className="tabular text-muted">{entry.httpStatus}</span>
      <span className={entry.isError ? "text-bad" : undefined}>{look.label}</span>
    </span>
  );
}
