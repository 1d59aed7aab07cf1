import { ChevronDown, ChevronUp } from "lucide-react";
import { useState } from "react";
import { classNames } from "~/ui/class-names.ts";
import { CallHistory } from "./calls/call-history.tsx";
import type { CallRecord } from "./calls/call-record.ts";
import { type Calls, useConnectionState } from "./calls/use-calls.ts";
import { ProtocolPane } from "./protocol-pane.tsx";

const views = { history: "History", protocol: "Protocol" } as const;
type View = keyof typeof views;

/** Below the panes: earlier calls, and the messages of the connection. Closed until it is wanted. */
export function Dock({ calls, onOpen }: { calls: Calls; onOpen: (record: CallRecord) => void }) {
  const [view, setView] = useState<View | null>(null);
  const { messages, status, protocolVersion } = useConnectionState(calls.connection);
  const counts: Record<View, number> = { history: calls.records.length, protocol: messages.length };
  return (
    <section aria-label="History and protocol" className="flex min-h-0 shrink-0 flex-col rounded-lg border bg-surface">
      <div className="flex flex-wrap items-center gap-1 p-1">
        {(Object.keys(views) as View[]).map((each) => (
          <button
            key={each}
            type="button"
            aria-expanded={view === each}
            onClick={() => setView(view === each ? null : each)}
            className={classNames(
              "flex h-8 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium text-muted hover:bg-hover hover:text-ink",
              view === each && "bg-hover text-ink",
            )}
          >
            {view === each ? (
              <ChevronDown className="size-4" aria-hidden />
            ) : (
              <ChevronUp className="size-4" aria-hidden />
            )}
            {views[each]}
            <span className="tabular rounded-full bg-hover px-1.5 text-2xs text-muted">{counts[each]}</span>
          </button>
        ))}
        <span role="status" className="ml-auto px-2 text-xs text-muted">
          {status === "open"
            ? `Connected, MCP ${protocolVersion}`
            : status === "connecting"
              ? "Connecting…"
              : "Not connected"}
        </span>
      </div>
      {view !== null && (
        <div className="scroll-thin h-64 overflow-y-auto border-t">
          {view === "history" ? (
            <CallHistory records={calls.records} onOpen={onOpen} onClear={calls.clear} />
          ) : (
            <ProtocolPane messages={messages} onClear={() => calls.connection.clearMessages()} />
          )}
        </div>
      )}
    </section>
  );
}
