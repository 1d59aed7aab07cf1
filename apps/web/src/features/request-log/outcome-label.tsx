import type { RequestLogEntry } from "@towpath/logs/schema";
import { StatusDot, type Tone } from "~/ui/status-dot.tsx";

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

/** How an exchange ended, with its HTTP status. */
export function OutcomeLabel({ entry }: { entry: Pick<RequestLogEntry, "outcome" | "httpStatus" | "isError"> }) {
  const look = labels[entry.outcome] ?? { label: entry.outcome, tone: entry.isError ? "bad" : "neutral" };
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <StatusDot tone={look.tone} />
      <span className="tabular text-muted">{entry.httpStatus}</span>
      <span className={entry.isError ? "text-bad" : undefined}>{look.label}</span>
    </span>
  );
}
