import { setTimeout as sleep } from "node:timers/promises";
import type { Rest } from "../call/answer.ts";
import { type OpenAnswer, openAnswer, reply } from "../call/reply.ts";
import { headerOf } from "../forward/headers.ts";
import { lookMs } from "../kept/repeats.ts";
import type { Message } from "../portal/messages-in.ts";
import type { StoredTask } from "../read-model/kept-tasks.ts";
import { HeldQuestions } from "./questions.ts";
import { ofTask } from "./server-requests.ts";
import { type Found, whenFetched } from "./serving.ts";
import { endWithoutResult } from "./task-view.ts";

/** After this long the client gets the head of its answer, and a comment every so often, so that nothing times out. */
const quietMs = 1000;
const commentMs = 15_000;

/**
 * Answers `tasks/result` once the task has ended, with what its call would have got. Until then the stream brings what
 * the server asks of the client, whose answers go to the server by themselves.
 */
export async function awaitResult(found: Found): Promise<Rest> {
  const { parts, admitted, taskId } = found;
  const { response, request } = admitted.call;
  const isStreamed = headerOf(request, "accept")?.includes("text/event-stream") === true;
  const sessionId = admitted.session?.id ?? null;
  const closed = new Promise<void>((resolve) => response.once("close", () => resolve()));
  let stream: OpenAnswer | null = null;
  const opened = () => {
    stream ??= openAnswer(parts, admitted, { status: 200, type: "text/event-stream", sessionId });
    return stream;
  };
  const begunAt = performance.now();
  let commentAt = begunAt + quietMs;
  let task: StoredTask = found.task;
  const held = new HeldQuestions(parts, admitted);
  for (let at = 0; task.state === "running" && !response.destroyed; at++) {
    const questions = isStreamed ? await held.take(task) : [];
    for (const question of questions) if (!response.destroyed) await opened().send(question);
    if (isStreamed && questions.length === 0 && performance.now() >= commentAt) {
      commentAt = performance.now() + commentMs;
      await opened().write(": the task is still under way\n\n");
    }
    const pauseMs = lookMs[Math.min(at, lookMs.length - 1)] ?? quietMs;
    await Promise.race([sleep(pauseMs, undefined, { ref: false }), parts.keptCalls.ended(task.id), closed]);
    const latest = await parts.store.find(task.id, admitted.owner.projectId).catch((error: unknown) => {
      parts.log.warn({ err: error }, "a task can't be read");
      return task;
    });
    if (latest === null) break;
    task = latest;
  }
  const { answer } = admitted.received;
  if (response.destroyed) {
    await held.release();
    answer.end = "client-closed";
    return "over";
  }
  const last = Buffer.from(JSON.stringify(endOf(found, task, taskId)));
  const rest = stream
    ? (stream as OpenAnswer).end(Buffer.from(`event: message\ndata: ${last}\n\n`))
    : reply(admitted, { status: 200, type: "application/json", sessionId, body: last });
  // How the call ended is in its own row: asking for it went well.
  answer.peek = null;
  whenFetched({ ...found, task });
  return rest;
}

function endOf({ parts, admitted }: Found, task: StoredTask, taskId: string): Message {
  const envelope = { jsonrpc: "2.0", id: admitted.peek.id };
  const message = parts.results.resultOf(task, admitted);
  if (message?.result !== undefined) return ofTask({ ...envelope, result: message.result }, "result", taskId);
  return { ...envelope, error: message?.error ?? endWithoutResult(task) };
}
