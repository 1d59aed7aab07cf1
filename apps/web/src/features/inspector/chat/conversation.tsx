import { useSuspenseQuery } from "@tanstack/react-query";
import type { ChatTurnView } from "@towpath/core/calling/chat";
import type { ChatReply } from "@towpath/core/calling/chat/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import { useCallback, useRef, useState } from "react";
import { chatSetupQuery, replyToOwnTurn, stopOwnTurn } from "~/features/inspector/conversation/chat.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Input } from "~/ui/field.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { Select } from "~/ui/select.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { ChatEmpty } from "./chat-empty.tsx";
import { Composer, type Draft } from "./composer.tsx";
import { useChat } from "./use-chat.ts";
import { useFollowEnd } from "./use-follow-end.ts";

/** Its code is loaded with an open chat, or while the first question is written. */
const TurnView = lazyPart(async () => (await import("./turn-view.tsx")).TurnView, <Skeleton className="h-16 w-full" />);

/** Asks for the rest of an answer that reached its limit. */
const goOn = "Continue where your answer was cut off.";
const noDraft: Draft = { text: "", attachments: [] };

type ConversationProps = {
  projectKey: ProjectKey;
  deploymentId: string;
  found: { readonly buildId: string; readonly manifest: Manifest };
  chatId: string | null;
  /** From the URL: filled in, not asked. */
  question: string;
  onStarted: (chatId: string) => void;
};

/** The questions and answers of one chat, and the field for the next question. */
export function Conversation({ projectKey, deploymentId, found, chatId, question, onStarted }: ConversationProps) {
  const { data: setup } = useSuspenseQuery(chatSetupQuery(projectKey));
  const { data: project } = useSuspenseQuery(projectQuery(projectKey));
  const [draft, setDraft] = useState<Draft>({ ...noDraft, text: question });
  /** Whether the draft replaces the last question. */
  const [isEditing, setIsEditing] = useState(false);
  const [chosenModel, setModel] = useState<string | null>(null);
  const [authorization, setAuthorization] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const chat = useChat(projectKey, chatId, onStarted);
  const lastModel = chat.turns.at(-1)?.model;
  const model = [chosenModel, lastModel].find((name) => setup.models.includes(name ?? "")) ?? setup.models[0] ?? "";
  const end = useFollowEnd(chat.chat?.id ?? null, chat.isAnswering);

  const ask = (asked: Draft, replacesLast: boolean) => {
    chat.send({
      question: asked.text.trim(),
      attachments: [...asked.attachments],
      model,
      deploymentId,
      replacesLast,
      authorization: project.authMode === "passthrough" && authorization !== "" ? authorization : null,
    });
    end.follow();
  };
  const edit = (asked: Draft, editing: boolean) => {
    setDraft(asked);
    setIsEditing(editing);
    field.current?.focus();
  };
  const reply = useCallback(
    async (id: string, answer: ChatReply) => {
      if (!chat.current) return;
      try {
        await replyToOwnTurn({ data: { ...projectKey, ...chat.current, id, reply: answer } });
      } catch (error) {
        toast.error(failureText(error));
      }
    },
    [projectKey, chat.current],
  );
  const stopElsewhere = async (turnId: string) => {
    if (chatId)
      await stopOwnTurn({ data: { ...projectKey, chatId, turnId } }).catch((error) => toast.error(failureText(error)));
    await chat.refresh();
  };
  const viewOf = (turn: ChatTurnView) => {
    const isLast = turn === chat.turns.at(-1);
    const mayAsk = isLast && !chat.isAnswering && turn.status !== "running" && setup.mayCall && model !== "";
    const again = { text: turn.question, attachments: turn.attachments };
    return (
      <TurnView
        key={turn.number}
        turn={turn}
        projectKey={projectKey}
        onReply={isLast && chat.isAnswering ? reply : null}
        onRetry={mayAsk ? () => ask(again, true) : null}
        onContinue={mayAsk ? () => ask({ ...noDraft, text: goOn }, false) : null}
        onEdit={mayAsk ? () => edit(again, true) : null}
        onStopElsewhere={turn.status === "running" && !chat.isAnswering ? () => void stopElsewhere(turn.id) : null}
      />
    );
  };
  return (
    <div ref={end.ref} className="mx-auto flex w-full max-w-3xl flex-1 flex-col">
      {chat.isMissing && (
        <Callout tone="warn" title="Chat not found" className="mb-4">
          It was deleted, or belongs to someone else.
        </Callout>
      )}
      {chat.turns.length === 0 && chatId === null ? (
        <ChatEmpty
          projectKey={projectKey}
          found={found}
          hasModel={setup.models.length > 0}
          onChoose={(text) => edit({ ...noDraft, text }, false)}
        />
      ) : (
        <div className="flex flex-1 flex-col gap-8 pb-6">{chat.turns.map(viewOf)}</div>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: only listens to the events of what it contains */}
      <div
        className="sticky bottom-0 z-10 -mx-1 flex flex-col gap-2 bg-canvas px-1 pt-1 pb-4"
        onFocus={TurnView.preload}
      >
        {chat.failure && (
          <Callout
            tone="bad"
            title={chat.failure.message}
            actions={
              <Button size="sm" onClick={() => chat.failure && chat.send(chat.failure.question)}>
                Try again
              </Button>
            }
          />
        )}
        {isEditing && (
          <p className="flex items-center gap-2 px-1 text-xs text-muted">
            Asking this replaces your last question and its answer.
            <Button variant="link" size="inline" onClick={() => edit(noDraft, false)}>
              Keep them
            </Button>
          </p>
        )}
        <Composer
          draft={draft}
          onChange={setDraft}
          onSend={() => {
            ask(draft, isEditing);
            edit(noDraft, false);
          }}
          onStop={chat.stop}
          isAnswering={chat.isAnswering}
          disabled={whyNot(setup)}
          manifest={found.manifest}
          field={field}
        >
          {project.authMode === "passthrough" && (
            <Input
              aria-label="Authorization header for the server"
              placeholder="Authorization: Bearer …"
              type="password"
              autoComplete="off"
              className="w-48"
              value={authorization}
              onChange={({ target }) => setAuthorization(target.value)}
            />
          )}
          {setup.models.length > 1 && (
            <Select
              aria-label="Model"
              className="w-40"
              value={model}
              onChange={setModel}
              options={setup.models.map((name) => ({ value: name, label: name }))}
            />
          )}
        </Composer>
      </div>
    </div>
  );
}

function whyNot({ models, mayCall }: { models: readonly string[]; mayCall: boolean }): string | null {
  if (!mayCall) return "Your role in this organization doesn't allow calling this server.";
  return models.length === 0 ? "No model is configured yet." : null;
}
