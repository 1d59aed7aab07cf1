import { useHydrated } from "@tanstack/react-router";
import type { RequestLogEntry } from "@towpath/logs/schema";
import { Timer } from "lucide-react";
import { memo, type ReactNode, useDeferredValue, useState } from "react";
import { PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import { StatusDot, type Tone } from "~/ui/badge.tsx";
import { Button } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { LetterTile } from "~/ui/letter-tile.tsx";
import { rowLinkLook, Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { FormattedClockTime, formatDuration, type TimeFormat, useTimeFormat } from "~/ui/time.tsx";
import { useOrderInAddress, useSorted } from "~/ui/use-sorted.ts";
import type { ShownRequest } from "./request-log.functions.ts";

const sortedBy = {
  Time: ({ time }: ShownRequest) => time,
  Outcome: ({ outcome }: ShownRequest) => outcome,
  Method: ({ method, target }: ShownRequest) => `${method ?? ""} ${target ?? ""}`,
  Client: ({ client }: ShownRequest) => client,
  Caller: ({ caller }: ShownRequest) => caller.name,
  Duration: ({ durationMs }: ShownRequest) => durationMs,
};

/** Rows that phones show at first, and that they add at a time. */
const phoneRows = 25;

type RequestTableProps = {
  rows: readonly ShownRequest[];
  /** The version that answered, by deployment; shown where several answered. */
  versions: ReadonlyMap<string, string>;
  openId: string | null;
  onOpen: (id: string) => void;
  /** A button that loads older rows, below the last one. */
  older: ReactNode;
};

/** Calls, newest first. One tab stop: the keys of lists move the focus, Enter opens. */
export function RequestTable({ rows: newestFirst, versions, openId, onOpen, older }: RequestTableProps) {
  const { rows, sort } = useSorted(newestFirst, sortedBy, older === null, useOrderInAddress());
  // Rows get these in slices: all at once, they would block a phone for a third of a second after the page's script.
  const isReady = useDeferredValue(useHydrated());
  const format = useDeferredValue(useTimeFormat());
  const [onPhones, setOnPhones] = useState(phoneRows);
  const hasHidden = onPhones < rows.length;
  const [focused, setFocused] = useState<string | null>(null);
  const isListed = (id: string | null) => id !== null && rows.some((row) => row.id === id);
  const hasSeveral = new Set(rows.flatMap(({ deploymentId }) => deploymentId ?? [])).size > 1;
  const stop = [focused, openId].find(isListed) ?? rows[0]?.id;
  return (
    <>
      <Table label="Requests">
        <TableHead>
          <Th sort={sort("Time")}>Time</Th>
          <Th sort={sort("Outcome")}>Outcome</Th>
          <Th className="w-1/2" sort={sort("Method")}>
            Method
          </Th>
          <Th sort={sort("Client")}>Client</Th>
          <Th className="max-xl:hidden" sort={sort("Caller")}>
            Caller
          </Th>
          <Th className="text-right" sort={sort("Duration")}>
            Duration
          </Th>
        </TableHead>
        <TableBody
          onClick={({ target }) => {
            const id = (target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset.row;
            if (id !== undefined) onOpen(id);
          }}
          onFocus={({ target }) => {
            const id = (target as HTMLElement).dataset.row;
            setFocused(id ?? null);
            // The details beside the list are those of the row that keys move to.
            if (id !== undefined && openId !== null && id !== openId) onOpen(id);
          }}
        >
          {rows.map((row, index) => (
            <RequestRow
              key={row.id}
              row={row}
              version={hasSeveral ? (versions.get(row.deploymentId ?? "") ?? null) : null}
              open={row.id === openId}
              isTabStop={row.id === stop}
              isHiddenOnPhones={index >= onPhones}
              isReady={isReady}
              format={format}
            />
          ))}
        </TableBody>
      </Table>
      {hasHidden ? (
        <div className="flex justify-center border-t p-3 sm:hidden">
          <Button onClick={() => setOnPhones(onPhones + phoneRows)}>Show more</Button>
        </div>
      ) : null}
      {older ? (
        <div className={classNames("flex justify-center border-t p-3", hasHidden && "max-sm:hidden")}>{older}</div>
      ) : null}
    </>
  );
}

type RequestRowProps = {
  row: ShownRequest;
  version: string | null;
  open: boolean;
  isTabStop: boolean;
  isHiddenOnPhones: boolean;
  /** The page's script runs. */
  isReady: boolean;
  format: TimeFormat;
};

/** The table listens to its button. */
const RequestRow = memo(function RequestRow(props: RequestRowProps) {
  const { row, version, open, isTabStop, isHiddenOnPhones, isReady, format } = props;
  return (
    <Tr
      className={classNames(
        // Cards below the screen are laid out when they are near it.
        "relative max-sm:[contain-intrinsic-size:auto_4.5rem] max-sm:[content-visibility:auto]",
        open && "bg-accent-soft hover:bg-accent-soft",
        isHiddenOnPhones && "max-sm:hidden",
      )}
    >
      <Td className="tabular h-8 whitespace-nowrap text-muted">
        <FormattedClockTime time={row.time} format={format} />
      </Td>
      <Td className="h-8 max-sm:text-right">
        <OutcomeLabel entry={row} />
      </Td>
      <Td wide className="h-8 max-w-0 max-sm:row-start-1 max-sm:max-w-none">
        <button
          type="button"
          disabled={!isReady}
          data-waiting={isReady ? undefined : ""}
          data-row={row.id}
          tabIndex={isTabStop ? 0 : -1}
          aria-haspopup="dialog"
          className={classNames(rowLinkLook, "w-full text-left font-mono text-xs font-normal")}
        >
          {exchangeName(row)}
          {row.target !== null && <span className="text-accent-text"> {row.target}</span>}
          {version !== null && (
            <span className="text-faint">
              <span className="sr-only">, answered by version</span> {version}
            </span>
          )}
          {row.kept !== null && <span className="text-muted"> result {row.kept}</span>}
          {row.errorMessage !== null && (
            <span className={row.isRefused ? "text-muted" : "text-bad"}> {row.errorMessage}</span>
          )}
        </button>
      </Td>
      <Td className="h-8 max-w-44 text-muted">
        <ClientLabel row={row} />
      </Td>
      <Td className="h-8 max-w-40 text-muted max-xl:hidden!">
        <PrincipalLabel principal={{ ...row.caller, email: null }} />
      </Td>
      <Td className="tabular h-8 text-right whitespace-nowrap text-muted">
        <span className="inline-flex items-center gap-1.5">
          {row.heldMs >= 1 && (
            <span title={`${formatDuration(row.heldMs)} of it held while the server started or woke`}>
              <Timer className="size-3.5 text-faint" />
              <span className="sr-only">Held {formatDuration(row.heldMs)} for a start or wake, of</span>
            </span>
          )}
          {formatDuration(row.durationMs)}
        </span>
      </Td>
    </Tr>
  );
});

/** A client's tile, name and version. */
export function ClientLabel({ row }: { row: Pick<ShownRequest, "client" | "clientName"> }) {
  if (row.client === null) return <span className="text-muted">Unknown client</span>;
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <LetterTile name={row.clientName ?? row.client} />
      <span className="truncate">{row.client}</span>
    </span>
  );
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

/** Refused by the gateway before the call reached a server: not the server's error. */
const refused = { label: "Refused", tone: "warn" } as const satisfies { label: string; tone: Tone };

/** An exchange's MCP method, or its kind without one. */
export function exchangeName({
  method,
  httpMethod,
  kind,
}: Pick<RequestLogEntry, "method" | "httpMethod" | "kind">): string {
  if (method !== null) return method;
  if (kind !== "other") return `${httpMethod} ${kind}`;
  if (httpMethod === "GET") return "GET event stream";
  return httpMethod === "DELETE" ? "DELETE session" : `${httpMethod} without a message`;
}

/** Errors within a successful HTTP answer, whose status doesn't show them. */
const withinAnswer = ["tool_error", "rpc_error"];

type OutcomeLabelProps = {
  entry: Pick<RequestLogEntry, "outcome" | "httpStatus" | "isError" | "isRefused">;
};

/** How an exchange ended, with its HTTP status where it adds information. */
export function OutcomeLabel({ entry }: OutcomeLabelProps) {
  const look = entry.isRefused
    ? refused
    : (labels[entry.outcome] ?? { label: entry.outcome, tone: entry.isError ? "bad" : "neutral" });
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <StatusDot tone={look.tone} />
      {!(entry.httpStatus === 200 && withinAnswer.includes(entry.outcome)) && (
        <span className="tabular text-muted">{entry.httpStatus}</span>
      )}
      <span className={entry.isError ? "text-bad" : undefined}>{look.label}</span>
    </span>
  );
}
