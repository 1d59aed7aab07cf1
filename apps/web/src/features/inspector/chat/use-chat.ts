import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ChatTurnView, ChatView } from "@towpath/core/calling/chat";
import { type AskInput, type ChatEvent, withEvent } from "@towpath/core/calling/chat/schema";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { chatQuery, chatsQuery } from "~/features/inspector/conversation/chat.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { failureText, toast } from "~/ui/toast.ts";
import { ask } from "./ask.ts";

export type NewQuestion = Pick<AskInput, "question" | "attachments" | "model" | "deploymentId"> & {
  readonly authorization: string | null;
  readonly replacesLast: boolean;
};

/** The last question of this page, with its answer so far. Aborting `stop` ends the answer. */
type Asked = { readonly stop: AbortController; readonly turn: ChatTurnView; readonly chatId: string | null };

const firstTurn = (question: NewQuestion, number: number): ChatTurnView => ({
  id: "",
  number,
  question: question.question,
  attachments: question.attachments ?? [],
  model: question.model,
  deploymentId: question.deploymentId,
  status: "running",
  parts: [],
  problem: null,
  inputTokens: 0,
  outputTokens: 0,
  createdAt: new Date().toISOString(),
});

/**
 * The open chat and its running answer. `onStarted` gets the id of a new chat. Only one answer at a time; leaving the
 * page or opening another chat stops it.
 */
export function useChat(key: ProjectKey, chatId: string | null, onStarted: (chatId: string) => void) {
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [failure, setFailure] = useState<{ readonly message: string; readonly question: NewQuestion } | null>(null);
  const answering = useRef<AbortController | null>(null);
  /** The server accepts a question once it has stored the previous answer, a moment after a stop. */
  const stored = useRef(Promise.resolve());
  /** The chat that a question on this page began. The address names it a moment later, maybe after the next question. */
  const begun = useRef<string | null>(null);
  useEffect(() => () => answering.current?.abort(), []);
  const isAnswering = asked?.turn.status === "running";
  const query = useQuery({ ...chatQuery(key, chatId ?? ""), enabled: chatId !== null && !isAnswering });
  const chat: ChatView | null = chatId === null ? null : (query.data ?? null);
  const turns = turnsOf(chat, asked);

  useOtherChat(chatId, begun, () => {
    answering.current?.abort();
    answering.current = null;
    begun.current = null;
    setAsked(null);
    setFailure(null);
  });

  const answer = async (question: NewQuestion, openId: string | null, stop: AbortController) => {
    const change: Change = (next) => setAsked((now) => (now?.stop === stop ? next(now) : now));
    const onEnded = () => {
      if (answering.current === stop) answering.current = null;
    };
    const onBegun = (id: string) => {
      begun.current = id;
      onStarted(id);
    };
    const came = await follow({ key, question, openId, stop, change, onBegun, onEnded });
    if (came.failure && came.turn.id === "") setFailure({ message: came.failure, question });
    // An accepted question is in the chat, with its own button to ask again.
    else if (came.failure) toast.error(came.failure);
    onEnded();
    if (came.chatId !== null) await fetchEnded(queryClient, key, came.chatId);
    // Show a broken-off answer as stored by the server.
    change((now) => (now.turn.status === "running" ? null : now));
    await queryClient.invalidateQueries({ queryKey: chatsQuery(key).queryKey });
  };

  const send = (question: NewQuestion) => {
    if (answering.current) return;
    const stop = new AbortController();
    answering.current = stop;
    setFailure(null);
    if (asked?.chatId != null) keepTurns(queryClient, key, asked.chatId, turns);
    const openId = asked?.chatId ?? chatId ?? begun.current;
    const turn = firstTurn(question, turns.length + (question.replacesLast ? 0 : 1));
    setAsked({ stop, chatId: openId, turn });
    stored.current = stored.current.then(() => answer(question, openId, stop));
  };
  const stop = () => {
    answering.current?.abort();
    answering.current = null;
    setAsked((now) => now && (now.turn.id === "" ? null : { ...now, turn: { ...now.turn, status: "stopped" } }));
  };

  return {
    turns,
    chat,
    isAnswering,
    isMissing: query.isError,
    /** Why the question could not be asked. */
    failure,
    send,
    stop,
    /** Ids for replies to the answer under way. */
    current: asked?.chatId != null && asked.turn.id !== "" ? { chatId: asked.chatId, turnId: asked.turn.id } : null,
    refresh: () => queryClient.invalidateQueries({ queryKey: chatQuery(key, chatId ?? "").queryKey }),
  };
}

type Change = (next: (asked: Asked) => Asked | null) => void;
type Following = {
  readonly key: ProjectKey;
  readonly question: NewQuestion;
  /** The chat to ask in; null starts one, whose id `onBegun` gets. */
  readonly openId: string | null;
  readonly stop: AbortController;
  readonly change: Change;
  readonly onBegun: (chatId: string) => void;
  readonly onEnded: () => void;
};

/** Asks, and shows the answer as it streams in. `failure`: why it could not be asked, or broke off without a stop. */
async function follow(following: Following): Promise<Asked & { readonly failure: string | null }> {
  const { key, question, openId, stop, change, onBegun, onEnded } = following;
  let came: Asked = { stop, chatId: openId, turn: firstTurn(question, 0) };
  const events = inFrames((some) => change((now) => some.reduce(applyEvent, now)));
  const onEvent = (event: ChatEvent) => {
    events.push(event);
    came = applyEvent(came, event);
    if (event.type === "started" && openId === null) onBegun(event.chatId);
    // The field accepts the next question once the end is shown, before the stream closes.
    if (event.type === "ended") {
      onEnded();
      events.flush();
    }
  };
  try {
    await ask(key, { ...question, chatId: openId }, { signal: stop.signal, onEvent });
    return { ...came, failure: null };
  } catch (error) {
    return { ...came, failure: stop.signal.aborted ? null : failureText(error) };
  } finally {
    events.flush();
  }
}

/** Calls `onOther` when a chat is opened other than the current one or the one that its first question started. */
function useOtherChat(chatId: string | null, begun: RefObject<string | null>, onOther: () => void): void {
  const open = useRef(chatId);
  useLayoutEffect(() => {
    if (open.current === chatId) return;
    const isSame = open.current === null && chatId === begun.current;
    open.current = chatId;
    if (!isSame) onOther();
  });
}

/** The stored turns; until the server has stored its end, this page's turn replaces its stored one. */
function turnsOf(chat: ChatView | null, asked: Asked | null): readonly ChatTurnView[] {
  const kept = chat?.turns ?? [];
  if (asked === null) return kept;
  const own = kept.find(({ id }) => id === asked.turn.id);
  if (own && own.status !== "running" && asked.turn.status !== "running") return kept;
  return [...kept.slice(0, asked.turn.number - 1), asked.turn];
}

/** Shows turns as the chat's until it is read again. */
function keepTurns(queryClient: QueryClient, key: ProjectKey, chatId: string, turns: readonly ChatTurnView[]): void {
  queryClient.setQueryData<ChatView>(chatQuery(key, chatId).queryKey, (now) => ({
    ...(now ?? { id: chatId, title: turns[0]?.question ?? "", updatedAt: new Date().toISOString() }),
    turns,
  }));
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

/** Batches events by animation frame: text arrives faster than it can be drawn. */
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
