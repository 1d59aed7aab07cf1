import { type ChatModel, type Question, ReplyTimedOut, runTurn, ToolServer } from "@towpath/chat";
import { authorizeCaller } from "@towpath/core/calling/access";
import {
  type BegunTurn,
  beginTurn,
  chatTurnChannel,
  endTurn,
  isTurnRunning,
  maxTurnMs,
  recordUsage,
  takeReply,
} from "@towpath/core/calling/chat";
import {
  type AskInput,
  askSchema,
  type ChatEvent,
  type ChatProblem,
  type ChatReply,
} from "@towpath/core/calling/chat/schema";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { McpClientError } from "@towpath/mcp/client";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { isSameOrigin, parseJsonObject, readBody } from "~/http/request.server.ts";
import { eventStream, type Send, wakeable } from "~/http/streams/event-stream.server.ts";
import { streamReader } from "~/http/streams/stream-reader.server.ts";
import { readAttachments } from "./attachments.server.ts";
import { type ChatTarget, chatTarget } from "./chat-target.server.ts";

const maxBodyBytes = 256 * 1024;
/** How long an approval or a form waits for the person. */
const patienceMs = 10 * 60_000;
/** Notifications can get lost while their connection reconnects. */
const pollMs = 2000;

const bodySchema = askSchema.extend({
  /** For passthrough servers, which authenticate callers themselves. Forwarded, never stored. */
  authorization: z
    .string()
    .max(8192)
    .regex(/^[\x20-\x7e]*$/, "Only printable ASCII")
    .nullable()
    .default(null),
});

/**
 * POST /api/projects/{orgSlug}/{projectName}/chat: asks a question (`bodySchema`) and streams the answer as `chat` events
 * (`ChatEvent`). Ending the request stops the answer.
 *
 * @throws TowpathError as `beginTurn` and `chatTarget`; `not_configured` without a model
 */
export async function chatStream(project: ProjectKey, request: Request): Promise<Response> {
  const { config, signingKeys } = services();
  if (!isSameOrigin(request, config.baseUrl)) throw new TowpathError("forbidden", "Forbidden: not from this site.");
  const reader = await streamReader(request, (ctx) => authorizeCaller(ctx, project));
  const { ctx } = reader;
  const { authorization, ...asked } = parseInput(bodySchema, parseJsonObject(await readBody(request, maxBodyBytes)));
  const model = modelNamed(asked.model);
  const input = { ...project, deploymentId: asked.deploymentId, authorization };
  const target = await chatTarget({ ctx, keys: signingKeys, input });
  const question = { ...asked, question: target.redactor.text(asked.question) };
  const begun = await beginTurn({ ctx, input: { ...project, ...question }, limits: config.chat.limits });
  try {
    return eventStream(request, reader, (send, signal) =>
      answer({ ctx, model, target, begun, question }, send, signal),
    );
  } catch (error) {
    await endTurn({ ctx, input: { turnId: begun.turnId, ...brokenOff } });
    throw error;
  }
}

/** @throws TowpathError `not_configured`, `invalid_input` */
function modelNamed(name: string): ChatModel {
  const { models } = services().config.chat;
  if (models.length === 0) {
    throw new TowpathError(
      "not_configured",
      "No model is configured for chats. The operator can set TOWPATH_CHAT_MODELS.",
    );
  }
  const model = models.find((each) => each.name === name);
  if (!model) throw new TowpathError("invalid_input", `There is no model ${name} any more. Choose another one.`);
  return model;
}

const failed: ChatProblem = {
  code: "interrupted",
  message: "Something went wrong on our side. Try again; if it persists, tell the operator.",
};
const brokenOff = { status: "failed", parts: [], problem: failed, inputTokens: 0, outputTokens: 0 } as const;

type Asked = {
  readonly ctx: Context;
  readonly model: ChatModel;
  readonly target: ChatTarget;
  readonly begun: BegunTurn;
  readonly question: AskInput;
};

async function answer(asked: Asked, send: Send, closed: AbortSignal): Promise<void> {
  const { ctx, target, begun } = asked;
  const { turnId, chatId, title } = begun;
  const stopped = new AbortController();
  const signal = AbortSignal.any([closed, stopped.signal, AbortSignal.timeout(maxTurnMs - 60_000)]);
  const replies = followReplies(ctx, turnId, signal, () => stopped.abort());
  const server = new ToolServer({ url: target.url, authorization: target.authorization }, signal);
  let sending = Promise.resolve();
  const emit = (event: ChatEvent) => {
    sending = sending.then(() => send({ event: "chat", data: event }));
  };
  try {
    emit({ type: "started", chatId, turnId, title });
    const result = await answerWith(asked, { server, signal, emit, waitForReply: replies.wait });
    await endTurn({ ctx, input: { turnId, ...result } });
    const { parts: _parts, ...ended } = result;
    emit({ type: "ended", ...ended });
  } catch (error) {
    await endTurn({ ctx, input: { turnId, ...brokenOff } });
    throw error;
  } finally {
    replies.end();
    await Promise.all([server.close(), sending]);
  }
}

type Running = Pick<Parameters<typeof runTurn>[0], "server" | "signal" | "emit" | "waitForReply">;

async function answerWith(
  { ctx, model, target, begun, question }: Asked,
  running: Running,
): ReturnType<typeof runTurn> {
  const { redactor, manifest, project } = target;
  const onUsage = (used: { inputTokens: number; outputTokens: number }) =>
    recordUsage({ ctx, input: { turnId: begun.turnId, ...used } });
  const asked = await attached(question, target, running.server);
  if ("problem" in asked) return { ...brokenOff, problem: asked.problem };
  return runTurn({ ...running, model, manifest, project, redactor, history: begun.history, question: asked, onUsage });
}

/** The question with its attachments, read from the server now. */
async function attached(
  { question, attachments }: AskInput,
  { redactor }: ChatTarget,
  server: ToolServer,
): Promise<Question | { readonly problem: ChatProblem }> {
  try {
    const texts = await readAttachments(server, attachments ?? []);
    return { text: question, attached: texts.map((each) => redactor.text(each)) };
  } catch (error) {
    if (!(error instanceof McpClientError)) throw error;
    const message = `Couldn't read your attachment: ${redactor.text(error.message)}`;
    return { problem: { code: "server_unreachable", message } };
  }
}

/** Waits for replies to a turn, which may arrive at any web process. `onStop`: the turn was stopped elsewhere. */
function followReplies(ctx: Context, turnId: string, signal: AbortSignal, onStop: () => void) {
  const waiters = new Set<() => void>();
  const look = async () => {
    if (!(await isTurnRunning({ ctx, input: { turnId } }))) onStop();
  };
  const stopListening = services().notifications.subscribe({ channel: chatTurnChannel, payload: turnId }, () => {
    for (const wake of waiters) wake();
    void look().catch((error: unknown) => services().log.warn({ err: error, turnId }, "can't read a chat's turn"));
  });
  const wait = async (id: string): Promise<ChatReply> => {
    const waiting = wakeable(signal);
    waiters.add(waiting.wake);
    try {
      const until = performance.now() + patienceMs;
      while (performance.now() < until) {
        signal.throwIfAborted();
        const reply = await takeReply({ ctx, input: { turnId, id } });
        if (reply) return reply;
        await waiting.wait(pollMs);
      }
      throw new ReplyTimedOut();
    } finally {
      waiters.delete(waiting.wake);
    }
  };
  return { wait, end: stopListening };
}
