import { z } from "zod";
import type { News } from "./news.ts";

/** A worker's question to all others: for a Health, for a MetricsSnapshot, or none with news. */
export type Question = { kind: "health" } | { kind: "metrics" } | { kind: "news"; news: News };

/** The other processes that share this one's port. */
export type Peers = {
  /** Number of other processes, as far as known. 0: this is the only one. */
  readonly count: number;
  /** The answers that arrive within a second. */
  ask: (question: Question) => Promise<unknown[]>;
  /** Sends news without confirmation. */
  send: (news: News) => void;
  /** Sets how this process answers. */
  onQuestion: (answer: (question: Question) => Promise<unknown>) => void;
};

export const noPeers: Peers = { count: 0, ask: async () => [], send: () => {}, onQuestion: () => {} };

const id = z.number();
/** Null: no answer is expected. */
const idOrNull = id.nullable();
/** The worker that asks, by its number in the cluster. */
const asker = z.number();
const question = z.custom<Question>();
/** From a worker to the primary, which passes questions and answers on. */
export const toPrimarySchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), port: z.number() }),
  z.object({ type: z.literal("ask"), id: idOrNull, question }),
  z.object({ type: z.literal("answer"), asker, id, answer: z.unknown() }),
  z.object({ type: z.literal("pong") }),
]);
/** From the primary to a worker. `asked`: the number of workers asked. */
const toWorkerSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("question"), asker, id: idOrNull, question }),
  z.object({ type: z.literal("asked"), id, count: z.number() }),
  z.object({ type: z.literal("answer"), id, answer: z.unknown() }),
  z.object({ type: z.literal("ping") }),
]);
export type ToPrimary = z.infer<typeof toPrimarySchema>;
export type ToWorker = z.infer<typeof toWorkerSchema>;

/** A worker that does not answer within this time, e.g. because its event loop is blocked, is skipped. */
const answerWithinMs = 1000;

type Inquiry = { count: number; readonly answers: unknown[]; readonly end: () => void };

/** Communicates with the other workers through the primary. */
export function createPeers(channel: {
  count: number;
  send: (message: ToPrimary) => void;
  onMessage: (take: (message: unknown) => void) => void;
}): Peers {
  const inquiries = new Map<number, Inquiry>();
  let lastId = 0;
  let answerQuestion: ((question: Question) => Promise<unknown>) | null = null;

  channel.onMessage((message) => {
    const parsed = toWorkerSchema.safeParse(message);
    if (!parsed.success) return;
    const { data } = parsed;
    if (data.type === "ping") return channel.send({ type: "pong" });
    if (data.type === "question") {
      const { asker, id } = data;
      // If this fails, the worker that asks continues without an answer.
      const send = (answer: unknown) => id !== null && channel.send({ type: "answer", asker, id, answer });
      answerQuestion?.(data.question).then(send, () => {});
      return;
    }
    const inquiry = inquiries.get(data.id);
    if (!inquiry) return;
    if (data.type === "asked") inquiry.count = data.count;
    else inquiry.answers.push(data.answer);
    if (inquiry.answers.length >= inquiry.count) inquiry.end();
  });

  return {
    count: channel.count,
    ask: (asked) =>
      new Promise((resolve) => {
        const askId = ++lastId;
        const answers: unknown[] = [];
        const end = () => {
          clearTimeout(timer);
          inquiries.delete(askId);
          resolve(answers);
        };
        const timer = setTimeout(end, answerWithinMs);
        inquiries.set(askId, { count: Number.POSITIVE_INFINITY, answers, end });
        channel.send({ type: "ask", id: askId, question: asked });
      }),
    send: (news) => channel.send({ type: "ask", id: null, question: { kind: "news", news } }),
    onQuestion(answer) {
      answerQuestion = answer;
    },
  };
}
