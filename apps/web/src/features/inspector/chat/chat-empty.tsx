import { useQuery } from "@tanstack/react-query";
import type { Manifest } from "@towpath/mcp/manifest";
import { ArrowUpRight, MessagesSquare } from "lucide-react";
import { suggestedQuestionsQuery } from "~/features/inspector/conversation/chat.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { useMay } from "~/features/shared/session/guards.ts";
import { PlainButton } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";
import { Skeleton } from "~/ui/loading.tsx";

type ChatEmptyProps = {
  projectKey: ProjectKey;
  found: { readonly buildId: string; readonly manifest: Manifest };
  onChoose: (question: string) => void;
  hasModel: boolean;
};

/** An empty chat: an introduction, and questions to start with (CHAT-2). */
export function ChatEmpty({ projectKey, found, onChoose, hasModel }: ChatEmptyProps) {
  const suggestions = useQuery(suggestedQuestionsQuery(projectKey, found));
  const count = found.manifest.tools.length;
  return (
    <div className="mx-auto flex w-full max-w-2xl flex-1 flex-col justify-center gap-6 py-8">
      <div className="flex flex-col items-center text-center">
        <span className="mb-3 flex size-10 items-center justify-center rounded-full bg-accent-soft text-accent-text">
          <MessagesSquare className="size-5" />
        </span>
        <h2 className="text-base font-semibold tracking-tight">Chat with {projectKey.projectName}</h2>
        <p className="mt-1 max-w-md text-sm text-pretty text-muted">
          A model answers with the server's {count === 1 ? "tool" : `${count} tools`}, called as you. You approve each
          call that may change something.
        </p>
      </div>
      {!hasModel && <NotConfigured />}
      <section aria-label="Suggested questions">
        <h3 className="mb-2 text-xs font-medium text-muted">Suggested questions</h3>
        <ul className="grid gap-2 sm:grid-cols-2">
          {suggestions.isPending
            ? ["a", "b", "c", "d"].map((key) => (
                <li key={key} className="rounded-lg border px-3 py-3">
                  <Skeleton className="w-3/4" />
                </li>
              ))
            : (suggestions.data ?? []).map((question) => (
                <li key={question} className="flex">
                  <PlainButton
                    onClick={() => onChoose(question)}
                    className="group flex w-full items-start gap-2 rounded-lg border bg-surface px-3 py-2.5 text-left text-sm hover:bg-hover"
                  >
                    <span className="min-w-0 flex-1 break-words">{question}</span>
                    <ArrowUpRight className="mt-0.5 size-4 shrink-0 text-faint group-hover:text-accent-text" />
                  </PlainButton>
                </li>
              ))}
        </ul>
        {suggestions.data?.length === 0 && (
          <p className="text-sm text-muted">This server offers nothing to ask about yet.</p>
        )}
      </section>
    </div>
  );
}

const example = `TOWPATH_CHAT_MODELS='[
  {"name": "Claude", "provider": "anthropic", "model": "claude-sonnet-4-5", "key": "sk-ant-…"},
  {"name": "Local", "provider": "openai-compatible", "url": "http://localhost:11434/v1", "model": "qwen3"}
]'`;

function NotConfigured() {
  // People who manage the organization probably run the instance, or know who does.
  const mayManage = useMay("organization.manage");
  return (
    <Callout tone="info" title="No model is configured yet">
      {mayManage ? (
        <div className="flex flex-col gap-2">
          <p>
            Set <code>TOWPATH_CHAT_MODELS</code> for the web process and restart it. Any provider with an OpenAI or
            Anthropic API works:
          </p>
          <CodeBlock code={example} label="example" className="max-h-48" />
        </div>
      ) : (
        <p>Ask the operator of this instance to configure one.</p>
      )}
    </Callout>
  );
}
