import { Duration, RelativeTime } from "~/ui/time.tsx";
import type { ServerCall } from "./inspector.schema.ts";
import { OutcomeBadge } from "./result-view.tsx";
import type { CallRecord } from "./use-calls.ts";

const targetOf = (call: ServerCall) => (call.kind === "resource" ? call.uri : call.name);

/** Calls made on this page, each with a link to its result. Closing the page drops them; the logs keep them. */
export function CallHistory({
  records,
  onOpen,
}: {
  records: readonly CallRecord[];
  onOpen: (record: CallRecord) => void;
}) {
  if (records.length === 0) return null;
  return (
    <section aria-labelledby="call-history" className="mt-6">
      <h2 id="call-history" className="mb-2 text-sm font-medium">
        Calls on this page
      </h2>
      <ol className="divide-y rounded-lg border bg-surface">
        {records.map((record) => (
          <li key={record.id}>
            <button
              type="button"
              onClick={() => onOpen(record)}
              className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2 text-left text-sm -outline-offset-2 hover:bg-hover"
            >
              <OutcomeBadge outcome={record.outcome} />
              <code className="min-w-0 truncate text-xs">{targetOf(record.call)}</code>
              <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">
                {"arguments" in record.call && JSON.stringify(record.call.arguments).slice(0, 200)}
              </span>
              {record.outcome.ok && <Duration ms={record.outcome.durationMs} className="text-xs text-muted" />}
              <RelativeTime time={record.time} className="w-16 text-right text-xs text-muted" />
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
