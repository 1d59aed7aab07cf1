import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** A request to a model, in its API's format. */
export type ModelRequest = {
  readonly key: string | null;
  readonly body: {
    readonly model: string;
    readonly system?: unknown;
    readonly stream?: boolean;
    /** Both APIs call it so. */
    readonly max_tokens?: number;
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    readonly tools?: readonly unknown[];
  };
};

/** Its answer: texts piece by piece, then tool calls; or an HTTP failure. */
export type ModelReply =
  | {
      readonly text?: readonly string[];
      readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
      readonly pauseMs?: number;
      readonly isCut?: boolean;
      /** Ends the connection after the text. */
      readonly breaksOff?: boolean;
      /** Sends nothing more after the text, and keeps the connection. */
      readonly fallsSilent?: boolean;
    }
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

export type ModelServer = {
  /** Base URL for the setting. */
  readonly url: string;
  readonly requests: ModelRequest[];
  close(): Promise<void>;
};

type Answer = (request: ModelRequest, count: number) => ModelReply;
type Send = (
  response: ServerResponse,
  reply: Exclude<ModelReply, { status: number }>,
  stream: boolean,
) => Promise<void>;

const tokens = { input: 100, output: 20 };

async function serve(path: string, keyOf: (request: IncomingMessage) => string | null, answer: Answer, send: Send) {
  const requests: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    if (request.url !== path) return void response.writeHead(404).end("{}");
    const body = (await json(request)) as ModelRequest["body"];
    const asked = { key: keyOf(request), body };
    requests.push(asked);
    const reply = answer(asked, requests.length);
    if ("status" in reply) {
      response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
      return void response.end(JSON.stringify(reply.body));
    }
    await send(response, reply, body.stream === true);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { origin, requests, close };
}

/** A model behind OpenAI's chat completions API, with streams. */
export async function openAiModel(answer: Answer): Promise<ModelServer> {
  const keyOf = (request: IncomingMessage) => request.headers.authorization?.replace(/^Bearer /, "") ?? null;
  const { origin, ...rest } = await serve("/v1/chat/completions", keyOf, answer, async (response, reply, stream) => {
    const { text = [], calls = [] } = reply;
    const usage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: 120 };
    const finish_reason = calls.length > 0 ? "tool_calls" : reply.isCut ? "length" : "stop";
    const common = { id: "c1", created: 1, model: "m" };
    if (!stream) {
      const choices = [{ index: 0, finish_reason, message: { role: "assistant", content: text.join("") } }];
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ ...common, object: "chat.completion", choices, usage }));
    }
    const write = (delta: object, more: object = {}) =>
      response.write(
        `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`,
      );
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const content of text) {
      write({ role: "assistant", content });
      await sleep(reply.pauseMs ?? 0);
    }
    if (reply.breaksOff) return void response.destroy();
    if (reply.fallsSilent) return;
    for (const [index, { id, name, arguments: args }] of calls.entries()) {
      const half = Math.floor(args.length / 2);
      write({ tool_calls: [{ index, id, type: "function", function: { name, arguments: args.slice(0, half) } }] });
      write({ tool_calls: [{ index, function: { arguments: args.slice(half) } }] });
    }
    write({}, { finish_reason });
    response.write(`data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices: [], usage })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  return { ...rest, url: `${origin}/v1` };
}

/** A model behind Anthropic's messages API, with streams. */
export async function anthropicModel(answer: Answer): Promise<ModelServer> {
  const keyOf = (request: IncomingMessage) => String(request.headers["x-api-key"] ?? "");
  const { origin, ...rest } = await serve("/v1/messages", keyOf, answer, async (response, reply) => {
    const { text = [], calls = [] } = reply;
    const write = (event: { readonly type: string; readonly [key: string]: unknown }) =>
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const message = { id: "m1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
    const usage = { input_tokens: tokens.input, output_tokens: 1 };
    write({ type: "message_start", message: { ...message, stop_sequence: null, usage } });
    let index = 0;
    const block = async (content_block: object, deltas: readonly object[]) => {
      write({ type: "content_block_start", index, content_block });
      for (const delta of deltas) {
        write({ type: "content_block_delta", index, delta });
        await sleep(reply.pauseMs ?? 0);
      }
      write({ type: "content_block_stop", index });
      index += 1;
    };
    if (text.length > 0) {
      const deltas = text.map((each) => ({ type: "text_delta", text: each }));
      await block({ type: "text", text: "" }, deltas);
    }
    if (reply.fallsSilent) return;
    for (const { id, name, arguments: args } of calls) {
      await block({ type: "tool_use", id, name, input: {} }, [{ type: "input_json_delta", partial_json: args }]);
    }
    const stop_reason = calls.length > 0 ? "tool_use" : reply.isCut ? "max_tokens" : "end_turn";
    const delta = { stop_reason, stop_sequence: null };
    write({ type: "message_delta", delta, usage: { output_tokens: tokens.output } });
    write({ type: "message_stop" });
    response.end();
  });
  return { ...rest, url: `${origin}/v1` };
}
