import { ArrowDown, ArrowUp, ChevronDown, ChevronUp, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button, PlainButton } from "~/ui/button.tsx";
import { classNames } from "~/ui/class-names.ts";
import { CopyButton } from "~/ui/icon-button.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { formatBytes } from "~/ui/time.tsx";
import { CallHistory } from "./calls/call-history.tsx";
import type { CallRecord } from "./calls/call-record.ts";
import { type Calls, useConnectionState } from "./calls/use-calls.ts";
import { type ProtocolMessage, titleOf } from "./connection/protocol-log.ts";

const views = { history: "History", protocol: "Protocol" } as const;
type View = keyof typeof views;

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
            onClick={() => setView(view === each ? null : each)}
            className={classNames(
              "flex h-8 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium text-muted hover:bg-hover hover:text-ink",
              view === each && "bg-hover text-ink",
            )}
          >
            {view === each ? <ChevronDown className="size-4" /> : <ChevronUp className="size-4" />}
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

const clock = (time: number) => {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
};

/** The JSON-RPC messages between this page and the server, newest first. */
function ProtocolPane({ messages, onClear }: { messages: readonly ProtocolMessage[]; onClear: () => void }) {
  if (messages.length === 0) {
    return <p className="p-4 text-center text-sm text-muted">Messages appear here with the first call.</p>;
  }
  const asLines = () =>
    messages.map(({ time, direction, message }) => JSON.stringify({ time, direction, message })).join("\n");
  return (
    <>
      <div className="flex items-center justify-end gap-1 border-b px-2 py-1">
        <CopyButton text={asLines} label="Copy all messages" />
        <Button size="sm" variant="ghost" icon={<Trash2 />} onClick={onClear}>
          Clear
        </Button>
      </div>
      <ol aria-label="Messages" className="divide-y">
        {[...messages].reverse().map((each) => (
          <Message key={each.id} entry={each} />
        ))}
      </ol>
    </>
  );
}

function Message({ entry }: { entry: ProtocolMessage }) {
  const [isOpen, setIsOpen] = useState(false);
  const isSent = entry.direction === "sent";
  return (
    <li>
      <PlainButton
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="flex min-h-8 w-full items-center gap-3 px-3.5 py-1 text-left font-mono text-xs -outline-offset-2 hover:bg-hover"
      >
        <span className="tabular shrink-0 text-muted">{clock(entry.time)}</span>
        {isSent ? (
          <ArrowUp className="size-3.5 shrink-0 text-info" />
        ) : (
          <ArrowDown className="size-3.5 shrink-0 text-ok" />
        )}
        <span className="sr-only">{isSent ? "Sent" : "Received"}</span>
        <span className="min-w-0 flex-1 truncate">{titleOf(entry.message)}</span>
        <span className="tabular shrink-0 text-muted">{formatBytes(entry.size)}</span>
      </PlainButton>
      {isOpen && (
        <div className="relative border-t bg-sunken p-2 pr-11">
          <JsonTree value={entry.message} openTo={3} />
          <CopyButton
            text={() => JSON.stringify(entry.message, null, 2)}
            label="Copy message"
            className="absolute top-1.5 right-1.5"
          />
        </div>
      )}
    </li>
  );
}
