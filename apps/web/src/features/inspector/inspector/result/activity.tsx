import type { ReactNode } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { JsonTree } from "~/ui/json-tree.tsx";
import { formatDuration } from "~/ui/time.tsx";
import type { CallRecord, LogEntry, Reply } from "../calls/call-record.ts";
import type { Progress } from "../connection/server-connection.ts";
import { ElicitationForm } from "../elicitation-form.tsx";
import { SamplingForm } from "./sampling-form.tsx";

type ActivityProps = {
  record: CallRecord;
  projectKey: ProjectKey;
  onReply: (id: string, reply: Reply) => void;
};

/** The server's progress, questions and log messages during a call; afterwards the log messages remain. */
export function Activity({ record, projectKey, onReply }: ActivityProps) {
  const { progress, logs, asked, outcome } = record;
  return (
    <>
      {outcome === null && progress === null && logs.length === 0 && asked.length === 0 && (
        <p className="text-sm text-muted">Waiting for the server. If it was asleep, it's waking up.</p>
      )}
      {progress && <ProgressBar progress={progress} isRunning={outcome === null} />}
      {asked.map((each) => {
        const answered =
          each.answer === null ? null : `You ${each.answer === "not allowed" ? "didn't allow it" : each.answer}.`;
        return each.kind === "form" ? (
          <ElicitationForm
            key={each.id}
            asked={each.asked}
            outcome={each.answer === "not answered" ? "Not answered." : answered}
            onAnswer={(answer) => onReply(each.id, { kind: "form", answer })}
          />
        ) : (
          <SamplingForm
            key={each.id}
            asked={each.asked}
            outcome={each.answer === "not answered" ? "Not answered." : answered}
            projectKey={projectKey}
            onAnswer={(answer) => onReply(each.id, { kind: "model", answer })}
          />
        );
      })}
      {logs.length > 0 && <LogMessages logs={logs} />}
    </>
  );
}

function ProgressBar({ progress, isRunning }: { progress: Progress; isRunning: boolean }) {
  const { total, message } = progress;
  const share = total === null || total <= 0 ? null : Math.min(1, Math.max(0, progress.progress / total));
  const label = message ?? (isRunning ? "Working" : "Got this far");
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex justify-between gap-4 text-sm">
        <span className="min-w-0 break-words">{label}</span>
        <span className="tabular shrink-0 text-muted">
          {total === null ? progress.progress : `${progress.progress} of ${total}`}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={1}
        {...(share !== null && { "aria-valuenow": share })}
        className="h-1.5 overflow-hidden rounded-full bg-hover"
      >
        <div
          className={`h-full rounded-full bg-accent transition-[width] duration-150 ${share === null ? "w-1/3 animate-breathe" : ""}`}
          style={share === null ? undefined : { width: `${share * 100}%` }}
        />
      </div>
    </div>
  );
}

/** On one line if it fits. */
function dataOf(data: unknown): ReactNode {
  if (typeof data !== "object" || data === null) return String(data);
  const text = JSON.stringify(data);
  return text.length <= 120 ? text : <JsonTree value={data} openTo={1} />;
}

const levelTones: Readonly<Record<string, string>> = {
  warning: "text-warn",
  error: "text-bad",
  critical: "text-bad",
  alert: "text-bad",
  emergency: "text-bad",
};

function LogMessages({ logs }: { logs: readonly LogEntry[] }) {
  return (
    <section aria-label="Log messages">
      <h3 className="mb-1 text-xs font-medium text-muted">Log messages of this call</h3>
      <ol className="rounded-md border bg-sunken p-2 font-mono text-xs leading-5">
        {logs.map((log, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: only ever added to at the end
          <li key={index} className="flex gap-2.5">
            <span className="tabular w-16 shrink-0 text-right text-faint">{formatDuration(log.at)}</span>
            <span className={`w-14 shrink-0 ${levelTones[log.level] ?? "text-muted"}`}>{log.level}</span>
            <span className="min-w-0 flex-1 break-words whitespace-pre-wrap">
              {log.logger !== null && <span className="text-muted">{log.logger}: </span>}
              {dataOf(log.data)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
