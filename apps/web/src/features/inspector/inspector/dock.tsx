import { ChevronDown } from "lucide-react";
import { useState } from "react";
import { PlainButton } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import type { CallRecord } from "./calls/call-record.ts";
import { type Calls, useConnectionState } from "./calls/use-calls.ts";

const pending = <SkeletonRows rows={4} label="Loading" />;
const CallHistory = lazyPart(async () => (await import("./calls/call-history.tsx")).CallHistory, pending);
const ProtocolPane = lazyPart(async () => (await import("./protocol-pane.tsx")).ProtocolPane, pending);

const views = { history: "History", protocol: "Protocol" } as const;
type View = keyof typeof views;
const preloads: Readonly<Record<View, () => void>> = {
  history: CallHistory.preload,
  protocol: ProtocolPane.preload,
};

/** Below the panes: earlier calls, and the messages of the connection. Closed at first. */
export function Dock({ calls, onOpen }: { calls: Calls; onOpen: (record: CallRecord) => void }) {
  const [view, setView] = useState<View | null>(null);
  const { messages, status, protocolVersion } = useConnectionState(calls.connection);
  const counts: Record<View, number> = { history: calls.records.length, protocol: messages.length };
  return (
    <section aria-label="History and protocol" className="flex min-h-0 shrink-0 flex-col rounded-lg border bg-surface">
      <div className="flex flex-wrap items-center gap-1 p-1">
        {(Object.keys(views) as View[]).map((each) => (
          <PlainButton
            key={each}
            aria-expanded={view === each}
            onFocus={preloads[each]}
            onPointerEnter={preloads[each]}
            onClick={() => setView(view === each ? null : each)}
            className={classNames(
              "flex h-8 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium text-muted hover:bg-hover hover:text-ink",
              view === each && "bg-hover text-ink",
            )}
          >
            <ChevronDown className={view === each ? "size-4" : "size-4 rotate-180"} />
            {views[each]}
            <span className="tabular rounded-full bg-hover px-1.5 text-2xs text-muted">{counts[each]}</span>
          </PlainButton>
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
