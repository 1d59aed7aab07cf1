import { Link } from "@tanstack/react-router";
import type { ChatForm, ChatReply, ChatToolPart } from "@towpath/core/calling/chat/schema";
import type { ElicitationAnswer } from "@towpath/mcp/web-client";
import { Check, CircleSlash, ScrollText, Wrench, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ContentView } from "~/features/inspector/inspector/content-view.tsx";
import { ElicitationForm } from "~/features/inspector/inspector/elicitation-form.tsx";
import { contentBlocks } from "~/features/shared/project-screen/content-blocks.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Badge } from "~/ui/badge.tsx";
import { Button, PlainButton } from "~/ui/button.tsx";
import { Duration } from "~/ui/duration.tsx";
import { JsonTree } from "~/ui/json-tree.tsx";
import { Spinner } from "~/ui/loading.tsx";

export type SendReply = (id: string, reply: ChatReply) => Promise<void>;

const icons: Record<ChatToolPart["status"], ReactNode> = {
  asked: <Wrench className="text-warn" />,
  running: <Spinner className="text-faint" />,
  done: <Check className="text-ok" />,
  failed: <X className="text-bad" />,
  denied: <CircleSlash className="text-faint" />,
  stopped: <CircleSlash className="text-faint" />,
};

const statusTexts: Record<ChatToolPart["status"], string> = {
  asked: "Waiting for your approval",
  running: "Running",
  done: "Done",
  failed: "Failed",
  denied: "Not allowed",
  stopped: "Stopped",
};

const formOutcomes: Record<Exclude<ChatForm["status"], "asked">, string> = {
  accept: "You answered.",
  decline: "You declined.",
  cancel: "Not answered.",
};

const formReply = (action: ElicitationAnswer["action"], content: ElicitationAnswer["content"]): ChatReply => ({
  kind: "form",
  action: action === "accept" ? "accept" : "decline",
  content: content && { ...content },
});

type ToolCallViewProps = {
  part: ChatToolPart;
  projectKey: ProjectKey;
  /** Null when the answer isn't under way on this page. */
  onReply: SendReply | null;
};

/** A tool call within an answer: its arguments, its result, and its questions to the person. */
export function ToolCallView({ part, projectKey, onReply }: ToolCallViewProps) {
  const asks = onReply !== null && (part.status === "asked" || part.forms.some((form) => form.status === "asked"));
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section aria-label={`Call of ${part.tool}`} className="min-w-0 rounded-lg border bg-surface">
      <div className="flex min-h-9 items-center gap-2 pr-2">
        <PlainButton
          aria-expanded={isOpen || asks}
          onClick={() => setIsOpen(!isOpen)}
          className="flex min-h-9 min-w-0 flex-1 items-center gap-2 rounded-lg px-3 text-left text-sm -outline-offset-2 hover:bg-hover"
        >
          <span className="shrink-0 [&_svg]:size-4">{icons[part.status]}</span>
          <code className="shrink-0 text-xs font-medium">{part.tool}</code>
          <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">{briefly(part.arguments)}</span>
          <span className="sr-only">{statusTexts[part.status]}</span>
          {part.durationMs !== null && <Duration ms={part.durationMs} className="text-xs text-muted" />}
        </PlainButton>
        {part.requestId !== null && <LogLink projectKey={projectKey} requestId={part.requestId} />}
      </div>
      {(isOpen || asks) && (
        <div className="flex flex-col gap-3 border-t p-3">
          {Object.keys(part.arguments).length > 0 && (
            <Labelled label="Arguments">
              <JsonTree value={part.arguments} openTo={2} />
            </Labelled>
          )}
          {part.status === "asked" && onReply && (
            <Approval tool={part.tool} onReply={(reply) => onReply(part.id, reply)} />
          )}
          {part.forms.map((form) => (
            // The answer is sent to the server; the chat doesn't store it.
            <ElicitationForm
              key={form.id}
              asked={form}
              outcome={form.status === "asked" ? null : formOutcomes[form.status]}
              onAnswer={onReply && (({ action, content }) => onReply(form.id, formReply(action, content)))}
            />
          ))}
          {part.error !== null && <p className="text-sm text-bad">{part.error}</p>}
          {part.result !== null && <ResultOf part={part} result={part.result} />}
        </div>
      )}
    </section>
  );
}

function ResultOf({ part, result }: { part: ChatToolPart; result: Readonly<Record<string, unknown>> }) {
  const blocks = contentBlocks(result);
  return (
    <>
      <Labelled label={part.status === "failed" ? "The tool's own error" : "Result"}>
        <div className="flex flex-col gap-2">
          {blocks.map((block, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a constant result
            <ContentView key={index} block={block} />
          ))}
          {blocks.length === 0 && <p className="text-sm text-muted">The result has no content.</p>}
        </div>
      </Labelled>
      {result.structuredContent !== undefined && (
        <Labelled label="Structured content">
          <JsonTree value={result.structuredContent} openTo={2} />
        </Labelled>
      )}
      {part.truncated && <Badge tone="warn">Too large: cut</Badge>}
    </>
  );
}

function Approval({ tool, onReply }: { tool: string; onReply: (reply: ChatReply) => Promise<void> }) {
  const [busy, setBusy] = useState(false);
  const decide = async (decision: "once" | "always" | "deny") => {
    setBusy(true);
    await onReply({ kind: "approval", decision }).finally(() => setBusy(false));
  };
  return (
    <fieldset aria-label={`Allow ${tool}?`} className="flex flex-col gap-2 rounded-md bg-warn-soft p-3">
      <p className="text-sm">
        <span className="font-medium">
          Allow <code className="text-xs">{tool}</code>?
        </span>{" "}
        It may change or delete something.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button variant="primary" size="sm" disabled={busy} onClick={() => void decide("once")}>
          Allow once
        </Button>
        <Button size="sm" disabled={busy} onClick={() => void decide("always")}>
          Always in this chat
        </Button>
        <Button size="sm" variant="danger-quiet" disabled={busy} onClick={() => void decide("deny")}>
          Deny
        </Button>
      </div>
    </fieldset>
  );
}

function LogLink({ projectKey, requestId }: { projectKey: ProjectKey; requestId: string }) {
  return (
    <Link
      to="/$orgSlug/$projectName/logs"
      params={projectKey}
      search={{ request: requestId }}
      className="inline-flex h-7 shrink-0 items-center gap-1 rounded-md px-2 text-xs text-muted hover:bg-hover hover:text-ink"
    >
      <ScrollText className="size-3.5" /> Log
    </Link>
  );
}

function Labelled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 text-xs font-medium text-muted">{label}</p>
      {children}
    </div>
  );
}

const briefly = (args: Readonly<Record<string, unknown>>): string =>
  Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ")
    .slice(0, 200);
