import { ArrowDown, ArrowUp, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button, PlainButton } from "~/ui/button.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { formatBytes } from "~/ui/time.tsx";
import { type ProtocolMessage, titleOf } from "./connection/protocol-log.ts";

const clock = (time: number) => {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
};

/** The JSON-RPC messages between this page and the server, newest first. */
export function ProtocolPane({ messages, onClear }: { messages: readonly ProtocolMessage[]; onClear: () => void }) {
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
