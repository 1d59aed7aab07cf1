import { Trash2 } from "lucide-react";
import { Button, PlainButton } from "~/ui/button.tsx";
import { Duration } from "~/ui/duration.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { OutcomeBadge } from "../result/outcome-badge.tsx";
import type { ServerCall } from "../server-call.ts";
import { callWithoutSecrets } from "../share/sensitive.ts";
import type { CallRecord } from "./call-record.ts";

const targetOf = (call: ServerCall) => (call.kind === "resource" ? call.uri : call.name);

/** Arguments on one line, without secrets: somebody may watch the screen. */
function briefly(call: ServerCall): string {
  const { call: shown } = callWithoutSecrets(call, undefined);
  return "arguments" in shown ? JSON.stringify(shown.arguments).slice(0, 200) : "";
}

type CallHistoryProps = {
  records: readonly CallRecord[];
  onOpen: (record: CallRecord) => void;
  onClear: () => void;
};

/** The calls of this server made in this browser, newest first, each with a way back to its result. */
export function CallHistory({ records, onOpen, onClear }: CallHistoryProps) {
  if (records.length === 0) {
    return <p className="p-4 text-center text-sm text-muted">Your calls appear here. Only this browser keeps them.</p>;
  }
  return (
    <>
      <div className="flex items-center gap-3 border-b px-3.5 py-1 text-xs text-muted">
        <span className="min-w-0 flex-1">Kept in this browser for 30 days, without secrets.</span>
        <Button size="sm" variant="ghost" icon={<Trash2 />} onClick={onClear}>
          Clear
        </Button>
      </div>
      <ol aria-label="Calls" className="divide-y">
        {records.map((record) => (
          <li key={record.id}>
            <PlainButton
              onClick={() => onOpen(record)}
              className="flex min-h-9 w-full flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-1.5 text-left text-sm -outline-offset-2 hover:bg-hover"
            >
              <OutcomeBadge outcome={record.outcome} />
              <code className="min-w-0 truncate text-xs">{targetOf(record.call)}</code>
              <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">{briefly(record.call)}</span>
              {record.outcome?.ok && <Duration ms={record.outcome.durationMs} className="text-xs text-muted" />}
              <RelativeTime time={record.time} className="w-16 text-right text-xs text-muted" />
            </PlainButton>
          </li>
        ))}
      </ol>
    </>
  );
}
