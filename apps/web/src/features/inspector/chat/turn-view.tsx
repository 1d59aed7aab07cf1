import type { ChatTurnView } from "@towpath/core/calling/chat";
import type { ChatProblem } from "@towpath/core/calling/chat/schema";
import { ArrowDown, Pencil, RotateCw } from "lucide-react";
import { lazy, memo, Suspense } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { CopyButton, IconButton } from "~/ui/icon-button.tsx";
import { Spinner } from "~/ui/loading.tsx";
import { AttachmentChip, attachmentKey } from "./attachment-chip.tsx";
import { type SendReply, ToolCallView } from "./tool-call-view.tsx";

// The parser of Markdown is large: load it with the first answer.
const Markdown = lazy(async () => ({ default: (await import("~/ui/markdown.tsx")).Markdown }));

/**
 * A question with its answer. `onRetry`, `onContinue` and `onEdit` are given for the last one, unless an answer runs.
 */
export const TurnView = memo(function TurnView({
  turn,
  projectKey,
  onReply,
  onRetry,
  onContinue,
  onEdit,
  onStopElsewhere,
}: {
  turn: ChatTurnView;
  projectKey: ProjectKey;
  onReply: SendReply | null;
  onRetry: (() => void) | null;
  /** Asks for the rest of an answer that was cut. */
  onContinue: (() => void) | null;
  onEdit: (() => void) | null;
  /** Given when this page doesn't follow the running answer. */
  onStopElsewhere: (() => void) | null;
}) {
  const tokens = turn.inputTokens + turn.outputTokens;
  const texts = turn.parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return (
    <article aria-label={`Question ${turn.number}`} className="flex min-w-0 flex-col gap-3">
      <Question turn={turn} onEdit={onEdit} />
      <div className="flex min-w-0 flex-col gap-3" aria-busy={turn.status === "running"}>
        {turn.parts.map((part, index) =>
          part.kind === "text" ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended
            <Suspense key={index} fallback={<p className="text-sm whitespace-pre-wrap">{part.text}</p>}>
              <Markdown text={part.text} />
            </Suspense>
          ) : (
            <ToolCallView key={part.id} part={part} projectKey={projectKey} onReply={onReply} />
          ),
        )}
        {turn.status === "running" && <Working turn={turn} onStopElsewhere={onStopElsewhere} />}
        {turn.problem && <Problem problem={turn.problem} onRetry={onRetry} onContinue={onContinue} />}
        {turn.status === "stopped" && <p className="text-sm text-muted">You stopped the answer.</p>}
      </div>
      {turn.status !== "running" && (
        <footer className="-mt-1 flex items-center gap-1 text-xs text-faint">
          {texts.length > 0 && <CopyButton text={texts.join("\n\n")} label="Copy answer" />}
          {onRetry && !turn.problem && (
            <IconButton label="Ask again" size="sm" onClick={onRetry}>
              <RotateCw />
            </IconButton>
          )}
          <span className="tabular">
            {turn.model}
            {tokens > 0 && ` · ${tokens.toLocaleString("en")} tokens`}
          </span>
        </footer>
      )}
    </article>
  );
});

type ProblemProps = {
  problem: ChatProblem;
  onRetry: (() => void) | null;
  onContinue: (() => void) | null;
};

/** A failure, with the next step. */
function Problem({ problem, onRetry, onContinue }: ProblemProps) {
  if (problem.code !== "answer_cut")
    return <Callout tone="bad" title={problem.message} actions={onRetry && <Retry onRetry={onRetry} />} />;
  const goOn = onContinue && (
    <Button size="sm" icon={<ArrowDown />} onClick={onContinue}>
      Continue
    </Button>
  );
  return <Callout tone="warn" title={problem.message} actions={goOn} />;
}

const Retry = ({ onRetry }: { onRetry: () => void }) => (
  <Button size="sm" icon={<RotateCw />} onClick={onRetry}>
    Try again
  </Button>
);

function Question({ turn, onEdit }: { turn: ChatTurnView; onEdit: (() => void) | null }) {
  return (
    <div className="group/question flex items-start justify-end gap-1">
      {onEdit && (
        <IconButton
          label="Edit question"
          size="sm"
          onClick={onEdit}
          className="opacity-0 group-hover/question:opacity-100 focus-visible:opacity-100 max-lg:opacity-100"
        >
          <Pencil />
        </IconButton>
      )}
      <div className="max-w-[min(85%,36rem)] min-w-0 rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2">
        {turn.attachments.length > 0 && (
          <ul className="mb-1 flex flex-wrap gap-1.5">
            {turn.attachments.map((attachment) => (
              <li key={attachmentKey(attachment)}>
                <AttachmentChip attachment={attachment} />
              </li>
            ))}
          </ul>
        )}
        <p className="text-sm break-words whitespace-pre-wrap">{turn.question}</p>
      </div>
    </div>
  );
}

function Working({ turn, onStopElsewhere }: { turn: ChatTurnView; onStopElsewhere: (() => void) | null }) {
  if (onStopElsewhere) {
    return (
      <Callout
        title="This question is being answered elsewhere"
        actions={
          <Button size="sm" onClick={onStopElsewhere}>
            Stop it
          </Button>
        }
      >
        The answer may be showing in another tab. It appears here when it's complete.
      </Callout>
    );
  }
  const last = turn.parts.at(-1);
  if (last?.kind === "tool" && (last.status === "asked" || last.status === "running")) return null;
  return (
    <p role="status" className="flex items-center gap-2 text-sm text-muted">
      <Spinner /> {last === undefined ? `${turn.model} is thinking` : "Writing"}
    </p>
  );
}
