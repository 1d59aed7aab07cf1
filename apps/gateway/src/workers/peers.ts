import { z } from "zod";
import { type Taken, takenSchema } from "../limits/taken.schema.ts";
import type { News } from "./news.ts";

/** What a worker asks all others at once: for a Health, for a MetricsSnapshot, or only to hear what is new. */
export type Question = { kind: "health" } | { kind: "metrics" } | { kind: "news"; news: News };

/** The other processes that share this one's port. */
export type Peers = {
  /** Number of other processes, as far as is known. 0: this is the only one. */
  readonly count: number;
  /** The answers of those that answer within about a second. */
  ask: (question: Question) => Promise<unknown[]>;
  /** Sets how this process answers. */
  onQuestion: (answer: (question: Question) => Promise<unknown>) => void;
  /** Lets all others know which calls this process has let in. Whether it arrives isn't known. */
  tell: (taken: readonly Taken[]) => void;
  /** Sets what to do with what others tell. */
  onTold: (take: (taken: readonly Taken[]) => void) => void;
};

export const noPeers: Peers = {
  count: 0,
  ask: async () => [],
  onQuestion: () => {},
  tell: () => {},
  onTold: () => {},
};

const id = z.number();
const question = z.custom<Question>();
/** From a worker to the primary. */
export const toPrimarySchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), port: z.number() }),
  z.object({ type: z.literal("ask"), id, question }),
  z.object({ type: z.literal("answer"), id, answer: z.unknown() }),
  z.object({ type: z.literal("tell"), taken: takenSchema }),
  z.object({ type: z.literal("pong") }),
]);
/** From the primary to a worker. */
const toWorkerSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("question"), id, question }),
  z.object({ type: z.literal("answers"), id, answers: z.array(z.unknown()) }),
  z.object({ type: z.literal("told"), taken: takenSchema }),
  z.object({ type: z.literal("ping") }),
]);
export type ToPrimary = z.infer<typeof toPrimarySchema>;
export type ToWorker = z.infer<typeof toWorkerSchema>;

/** Longer than the primary waits for the workers: it always answers, unless it hangs itself. */
const giveUpMs = 2000;

/** Communicates with the other workers through the primary. */
export function createPeers(channel: {
  count: number;
  send: (message: ToPrimary) => void;
  onMessage: (take: (message: unknown) => void) => void;
}): Peers {
  const waiting = new Map<number, (answers: unknown[]) => void>();
  let lastId = 0;
  let answerQuestion: ((question: Question) => Promise<unknown>) | null = null;
  let takeTold: ((taken: readonly Taken[]) => void) | null = null;

  channel.onMessage((message) => {
    const parsed = toWorkerSchema.safeParse(message);
    if (!parsed.success) return;
    const { data } = parsed;
    if (data.type === "ping") channel.send({ type: "pong" });
    else if (data.type === "told") takeTold?.(data.taken);
    else if (data.type === "answers") waiting.get(data.id)?.(data.answers);
    else if (answerQuestion) {
      // If this fails, the primary continues without an answer.
      answerQuestion(data.question).then(
        (answer) => channel.send({ type: "answer", id: data.id, answer }),
        () => {},
      );
    }
  });

  return {
    count: channel.count,
    ask(asked) {
      const { promise, resolve } = Promise.withResolvers<unknown[]>();
      const askId = ++lastId;
      const timer = setTimeout(() => resolve([]), giveUpMs);
      waiting.set(askId, resolve);
      channel.send({ type: "ask", id: askId, question: asked });
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(askId);
      });
    },
    onQuestion(answer) {
      answerQuestion = answer;
    },
    tell: (taken) => channel.send({ type: "tell", taken: [...taken] }),
    onTold(take) {
      takeTold = take;
    },
  };
}
