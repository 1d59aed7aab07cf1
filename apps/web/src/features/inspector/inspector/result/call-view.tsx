import { Link } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Duration, RunningDuration } from "~/ui/duration.tsx";
import { CopyButton } from "~/ui/icon-button.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import type { CallRecord } from "../calls/call-record.ts";
import type { Calls } from "../calls/use-calls.ts";
import { CompareAnswers } from "../compare/compare-answers.tsx";
import { type CallResult, isCanceled } from "../server-call.ts";
import { Activity } from "./activity.tsx";
import { AnswerView } from "./answer-view.tsx";
import { OutcomeBadge } from "./outcome-badge.tsx";

export type CallViewProps = {
  record: CallRecord;
  calls: Calls;
  projectKey: ProjectKey;
  branchId: string | null;
  /** A call of this tool is asked about first. */
  asksBefore: boolean;
  /** Reads a resource that a result links to. */
  onRead: (uri: string) => void;
};

/** One call: the server's messages and questions while it runs, then its result. */
export function CallView({ record, calls, projectKey, branchId, asksBefore, onRead }: CallViewProps) {
  const { outcome } = record;
  return (
    <section aria-label="Result" aria-busy={outcome === null} className="flex min-h-0 min-w-0 flex-col">
      <ResultHeader record={record} projectKey={projectKey} />
      <div className="scroll-thin flex min-h-0 flex-1 flex-col gap-4 p-4 lg:overflow-y-auto">
        {outcome && (
          <div aria-live="polite">
            {outcome.ok ? (
              <AnswerView
                key={record.id}
                record={record}
                projectKey={projectKey}
                branchId={branchId}
                onRead={onRead}
                answer={outcome}
              />
            ) : (
              <Failure outcome={outcome} />
            )}
          </div>
        )}
        {outcome && hasFailed(outcome) && record.requestId !== null && (
          <Link
            to="/$orgSlug/$projectName/logs"
            params={projectKey}
            search={{ request: record.requestId }}
            className={buttonLook({ size: "sm", className: "self-start" })}
          >
            <ScrollText /> See what the server logged
          </Link>
        )}
        {outcome && !isCanceled(outcome) && (
          <CompareAnswers
            key={record.id}
            record={record}
            projectKey={projectKey}
            branchId={branchId}
            asksBefore={asksBefore}
            authorization={() => calls.authorization.current || null}
          />
        )}
        <Activity record={record} projectKey={projectKey} onReply={(id, reply) => calls.reply(record, id, reply)} />
      </div>
    </section>
  );
}

const hasFailed = (outcome: CallResult) => (outcome.ok ? outcome.result.isError === true : !isCanceled(outcome));

function ResultHeader({ record, projectKey }: { record: CallRecord; projectKey: ProjectKey }) {
  const { outcome, requestId } = record;
  return (
    <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5 text-xs text-muted">
      <OutcomeBadge outcome={outcome} />
      {outcome === null && <RunningDuration since={record.time} />}
      {outcome?.ok && (
        <>
          <span>
            <Duration ms={outcome.durationMs} className="font-medium text-ink" /> for the call
          </span>
          {outcome.connectMs > 0 && (
            <span>
              <Duration ms={outcome.connectMs} /> to connect
            </span>
          )}
        </>
      )}
      <span className="ml-auto flex items-center gap-1">
        {outcome && <RelativeTime time={record.time} />}
        {requestId !== null && (
          <Link
            to="/$orgSlug/$projectName/logs"
            params={projectKey}
            search={{ request: requestId }}
            className="inline-flex h-7 items-center gap-1 rounded-md px-2 hover:bg-hover hover:text-ink"
          >
            <ScrollText className="size-3.5" /> Log
          </Link>
        )}
        {outcome?.ok && <CopyButton text={() => JSON.stringify(outcome.result, null, 2)} label="Copy result" />}
      </span>
    </header>
  );
}

function Failure({ outcome }: { outcome: Extract<CallResult, { ok: false }> }) {
  if (isCanceled(outcome)) return <p className="text-sm text-muted">{outcome.message}</p>;
  return (
    <Callout tone="bad" title={<span className="whitespace-pre-wrap">{outcome.message}</span>}>
      {outcome.rpcCode !== null && (
        <p>
          The server answered with JSON-RPC error <code>{outcome.rpcCode}</code>.
        </p>
      )}
      {outcome.code === "unauthorized" && <p>Enter the server's own credentials next to the form and call again.</p>}
      {(outcome.code === "unreachable" || outcome.code === "timeout") && (
        <p>The server log shows whether it started and what it printed.</p>
      )}
    </Callout>
  );
}
