import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ChatTurnView, ChatView } from "@towpath/core/chat";
import { type AskInput, type ChatEvent, withEvent } from "@towpath/core/chat/schema";
import { useEffect, useRef, useState } from "react";
import { failureText, toast } from "~/ui/toast.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { ask } from "./ask.ts";
import { chatQuery, chatsQuery } from "./chat.functions.ts";

export type NewQuestion = Pick<AskInput, "question" | "attachments" | "model" | "deploymentId"> & {
  readonly authorization: string | null;
  readonly replacesLast: boolean;
};

type Asked = { readonly question: NewQuestion; readonly turn: ChatTurnView; readonly chatId: string | null };

const firstTurn = (question: NewQuestion, number: number): ChatTurnView => ({
  ...{ id: "", number, question: question.question, attachments: question.attachments ?? [], model: question.model },
  ...{
    deploymentId: question.deploymentId,
    status: "running",
    parts: [],
    problem: null,
    inputTokens: 0,
    outputTokens: 0,
  },
  createdAt: new Date().toISOString(),
});

/**
 * The open chat and the answer under way. `onStarted` gets the id of a chat that the question began. Only one answer at a
 * time; leaving the page stops it.
 */
export function useChat(key: ProjectKey, chatId: string | null, onStarted: (chatId: string) => void) {
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [failure, setFailure] = useState<{ readonly message: string; readonly question: NewQuestion } | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const isAnswering = asked !== null;
  const stored = useQuery({ ...chatQuery(key, chatId ?? ""), enabled: chatId !== null && !isAnswering });
  const chat: ChatView | null = chatId === null ? null : (stored.data ?? null);

  const send = async (question: NewQuestion) => {
    if (running.current) return;
    const stop = new AbortController();
    running.current = stop;
    setFailure(null);
    const before = chat?.turns.length ?? 0;
    setAsked({ question, chatId, turn: firstTurn(question, question.replacesLast ? before : before + 1) });
    const events = inFrames((some) => setAsked((now) => now && some.reduce(applyEvent, now)));
    let openId = chatId;
    let hasStarted = false;
    try {
      await ask(
        key,
        { ...question, chatId },
        {
          signal: stop.signal,
          onEvent: (event) => {
            events.push(event);
            hasStarted = true;
            if (event.type !== "started" || openId !== null) return;
            openId = event.chatId;
            onStarted(event.chatId);
          },
        },
      );
    } catch (error) {
      // A question that was taken is in the chat, with its own way to ask again.
      if (hasStarted && !stop.signal.aborted) toast.error(failureText(error));
      else if (!stop.signal.aborted) setFailure({ message: failureText(error), question });
    }
    events.flush();
    running.current = null;
    // The stored answer takes the place of the streamed one, without a moment in which there is none.
    if (openId !== null) await fetchEnded(queryClient, key, openId);
    setAsked(null);
    await queryClient.invalidateQueries({ queryKey: chatsQuery(key).queryKey });
  };

  const kept = chat?.turns ?? [];
  const turns = asked === null ? kept : [...kept.slice(0, asked.turn.number - 1), asked.turn];
  return {
    turns,
    chat,
    isAnswering,
    isMissing: stored.isError,
    /** Of a question that could not be asked. */
    failure,
    send: (question: NewQuestion) => void send(question),
    stop: () => running.current?.abort(),
    /** Ids for replies to the answer under way. */
    current: asked?.chatId != null && asked.turn.id !== "" ? { chatId: asked.chatId, turnId: asked.turn.id } : null,
    refresh: () => queryClient.invalidateQueries({ queryKey: chatQuery(key, chatId ?? "").queryKey }),
  };
}

/** Reads the chat until its last answer is stored, which takes a moment after a stop. */
async function fetchEnded(queryClient: QueryClient, key: ProjectKey, chatId: string): Promise<void> {
  for (let waitMs = 100; waitMs < 3000; waitMs *= 2) {
    const chat = await queryClient.fetchQuery(chatQuery(key, chatId)).catch(() => null);
    if (chat?.turns.at(-1)?.status !== "running") return;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function applyEvent(asked: Asked, event: ChatEvent): Asked {
  const { turn } = asked;
  if (event.type === "started") return { ...asked, chatId: event.chatId, turn: { ...turn, id: event.turnId } };
  if (event.type === "ended") {
    const { type: _type, ...ended } = event;
    return { ...asked, turn: { ...turn, ...ended } };
  }
  return { ...asked, turn: { ...turn, parts: withEvent(turn.parts, event) } };
}

/** Hands on events once a frame: text comes in more often than it can be drawn. */
function inFrames(take: (events: readonly ChatEvent[]) => void) {
  let waiting: ChatEvent[] = [];
  let frame = 0;
  const flush = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    if (waiting.length > 0) take(waiting);
    waiting = [];
  };
  return {
    push: (event: ChatEvent) => {
      waiting.push(event);
      if (frame === 0) frame = requestAnimationFrame(flush);
    },
    flush,
  };
}
