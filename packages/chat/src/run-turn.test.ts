import type { ChatEvent, ChatReply, ChatToolPart } from "@towpath/core/calling/chat/schema";
import { createRedactor } from "@towpath/secrets/redaction";
import { afterEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { ReplyTimedOut } from "./call-tool.ts";
import type { ChatModel } from "./config.ts";
import { runTurn, type Turn } from "./run-turn.ts";
import { anthropicModel, type ModelReply, type ModelServer, openAiModel } from "./testing/model-servers.ts";
import { legacyTools, manifestOf, modernTools, type RunningToolServer } from "./testing/tool-servers.ts";
import { ToolServer } from "./tool-server.ts";

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
});
function closed<Closable extends { close(): Promise<void> }>(each: Closable): Closable {
  closing.push(each);
  return each;
}

const providers = ["openai-compatible", "anthropic"] as const;
type Provider = (typeof providers)[number];
const serveModel = async (provider: Provider, answer: Parameters<typeof openAiModel>[0]): Promise<ModelServer> =>
  closed(await (provider === "anthropic" ? anthropicModel(answer) : openAiModel(answer)));
const modelAt = (provider: Provider, url: string): ChatModel => ({
  provider,
  name: "Tester",
  model: "test-1",
  url,
  key: "key-of-the-provider",
  maxOutputTokens: 100,
  maxSilenceSeconds: 90,
});

const manifest = manifestOf([
  { name: "add", inputSchema: { properties: { a: { type: "number" }, b: { type: "number" } } } },
  { name: "files.delete", annotations: {} },
  ...["fails", "picture", "slow", "large", "leak", "book"].map((name) => ({ name })),
]);

type Setting = { readonly model: ChatModel; readonly tools?: RunningToolServer } & Partial<Turn>;

/** Runs a turn; `replies` answers approvals and forms, `events` are those for the browser. */
async function ask(
  { model, tools, ...more }: Setting,
  replies: (part: ChatToolPart, id: string) => ChatReply | null = () => null,
) {
  const events: ChatEvent[] = [];
  const stop = new AbortController();
  const signal = more.signal ?? stop.signal;
  const server = closed(
    new ToolServer({ url: tools?.url ?? "http://127.0.0.1:9/mcp", authorization: async () => "Bearer of-ada" }, signal),
  );
  const result = await runTurn({
    model,
    manifest,
    server,
    signal,
    project: "demo",
    history: [],
    redactor: createRedactor({ PASSWORD: "hunter2-hunter2" }),
    question: { text: "Please", attached: [] },
    emit: (event) => events.push(event),
    onUsage: async () => {},
    waitForReply: async (id) => {
      const part = events.flatMap((event) => (event.type === "tool" ? [event.part] : [])).at(-1);
      const reply = part ? replies(part, id) : null;
      if (reply === null) throw new ReplyTimedOut();
      return reply;
    },
    ...more,
  });
  return { ...result, events, calls: result.parts.filter((part) => part.kind === "tool") };
}

/** Calls these tools first, then answers "done". */
const calling =
  (...calls: [name: string, args?: object][]) =>
  (_request: unknown, count: number): ModelReply =>
    count === 1
      ? {
          calls: calls.map(([name, args = {}], index) => ({
            id: `call-${index}`,
            name,
            arguments: JSON.stringify(args),
          })),
        }
      : { text: ["Done", "."] };

test.each(providers)("CHAT-1 %s: text streams in pieces, with the key sent to the provider only", async (provider) => {
  const model = await serveModel(provider, () => ({ text: ["Good ", "morning", "!"], pauseMs: 5 }));
  const answer = await ask({ model: modelAt(provider, model.url) });
  expect(answer).toMatchObject({ status: "done", problem: null, inputTokens: 100, outputTokens: 20 });
  expect(answer.events).toEqual(["Good ", "morning", "!"].map((delta) => ({ type: "text", delta })));
  expect(answer.parts).toEqual([{ kind: "text", text: "Good morning!" }]);
  expect(model.requests[0]).toMatchObject({ key: "key-of-the-provider", body: { model: "test-1" } });
  expect(JSON.stringify(model.requests[0]?.body)).toContain("Be kind.");
});

test.each(providers)(
  "CHAT-1 %s: calls tools as the person, as client Towpath chat, and continues with their results",
  async (provider) => {
    const model = await serveModel(provider, calling(["add", { a: 2, b: 3 }], ["add", { a: 1, b: 1 }]));
    const tools = closed(await modernTools());
    const answer = await ask({ model: modelAt(provider, model.url), tools });
    expect(answer).toMatchObject({ status: "done", inputTokens: 200, outputTokens: 40 });
    expect(answer.calls).toMatchObject([
      {
        tool: "add",
        arguments: { a: 2, b: 3 },
        status: "done",
        approval: "not needed",
        result: { structuredContent: { sum: 5 } },
      },
      { tool: "add", arguments: { a: 1, b: 1 }, status: "done", result: { structuredContent: { sum: 2 } } },
    ]);
    for (const call of answer.calls) {
      expect(call).toMatchObject({
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        durationMs: expect.any(Number),
      });
    }
    expect(new Set(answer.calls.map((call) => call.kind === "tool" && call.requestId)).size).toBe(2);
    expect(answer.parts.at(-1)).toEqual({ kind: "text", text: "Done." });
    const called = tools.seen.filter(({ method }) => method === "tools/call");
    expect(called).toEqual(
      [1, 2].map(() => ({ method: "tools/call", client: "Towpath chat", authorization: "Bearer of-ada" })),
    );
    // The whole exchange is sent back: the calls, and a result for each by its id.
    const sent = JSON.stringify(model.requests[1]?.body.messages);
    for (const piece of ["call-0", "call-1", "Please"]) expect(sent).toContain(piece);
  },
);

test("CHAT-1 a tool that may destroy something waits for approval: once, always in this chat, denied, nobody", async () => {
  const tools = closed(await modernTools());
  const run = async (decision: "once" | "always" | "deny" | null, more: Partial<Turn> = {}) => {
    const model = await serveModel("openai-compatible", calling(["files_delete", { path: "/a" }]));
    const setting = { model: modelAt("openai-compatible", model.url), tools, ...more };
    const answer = await ask(setting, () => (decision === null ? null : { kind: "approval", decision }));
    return { ...answer, sent: JSON.stringify(model.requests[1]?.body.messages) };
  };
  const once = await run("once");
  expect(once.events[0]).toMatchObject({
    type: "tool",
    part: { tool: "files.delete", status: "asked", approval: null },
  });
  expect(once.calls).toMatchObject([
    { status: "done", approval: "once", result: { content: [{ text: "deleted /a" }] } },
  ]);
  const denied = await run("deny");
  expect(denied.calls).toMatchObject([{ status: "denied", approval: null, result: null }]);
  expect(denied.sent).toContain("didn't allow");
  expect((await run(null)).calls).toMatchObject([
    { status: "denied", error: expect.stringContaining("Nobody answered") },
  ]);
  const always = await run("always");
  expect(always.calls).toMatchObject([{ status: "done", approval: "always" }]);
  const history = [{ question: "Earlier", parts: always.parts }];
  expect((await run(null, { history })).calls).toMatchObject([{ status: "done", approval: "always" }]);
  const called = tools.seen.filter(({ method }) => method === "tools/call");
  expect(called).toHaveLength(3);
});

test.each([
  ["2026-07-28", modernTools],
  ["2025", legacyTools],
] as const)("CHAT-1 a form that a tool asks for while it runs is answered by the person (%s)", async (_era, serve) => {
  const tools = closed(await serve());
  const run = async (reply: ChatReply | null) => {
    const model = await serveModel("openai-compatible", calling(["book"]));
    return ask({ model: modelAt("openai-compatible", model.url), tools }, (part, id) =>
      part.forms.at(-1)?.id === id ? reply : null,
    );
  };
  const booked = await run({ kind: "form", action: "accept", content: { seats: 4 } });
  expect(booked.calls).toMatchObject([
    {
      status: "done",
      result: { content: [{ text: "booked 4" }] },
      forms: [{ message: "How many seats?", status: "accept" }],
    },
  ]);
  expect(booked.events.find((event) => event.type === "tool" && event.part.forms.length > 0)).toMatchObject({
    part: { forms: [{ status: "asked", schema: { properties: { seats: { type: "integer" } } } }] },
  });
  const declined = await run({ kind: "form", action: "decline", content: null });
  expect(declined.calls).toMatchObject([
    { result: { content: [{ text: "not booked: decline" }] }, forms: [{ status: "decline" }] },
  ]);
  expect((await run(null)).calls).toMatchObject([{ result: { content: [{ text: "not booked: cancel" }] } }]);
});

test("CHAT-1 failures of tools and of the server are shown and passed to the model, which continues", async () => {
  const tools = closed(await modernTools());
  const model = await serveModel("openai-compatible", calling(["fails"], ["nothing_like_that"]));
  const answer = await ask({ model: modelAt("openai-compatible", model.url), tools });
  expect(answer).toMatchObject({ status: "done" });
  expect(answer.calls).toMatchObject([
    { status: "failed", result: { isError: true, content: [{ text: expect.stringContaining("no such account") }] } },
    { status: "failed", result: null, error: "The server has no tool of this name." },
  ]);
  expect(JSON.stringify(model.requests[1]?.body.messages)).toContain("no such account");
  const unreachable = await ask({
    model: modelAt("openai-compatible", (await serveModel("openai-compatible", calling(["add", { a: 1, b: 1 }]))).url),
  });
  expect(unreachable.calls).toMatchObject([{ status: "failed", result: null, error: "The server does not answer." }]);
});

test("CHAT-1 stopping ends the answer, and the call of a tool under way", async () => {
  const tools = closed(await modernTools());
  const stop = new AbortController();
  const model = await serveModel("openai-compatible", calling(["slow"]));
  const answer = await ask({
    model: modelAt("openai-compatible", model.url),
    tools,
    signal: stop.signal,
    emit: () => setTimeout(() => stop.abort(), 300),
  });
  expect(answer).toMatchObject({ status: "stopped", problem: null, calls: [{ tool: "slow", status: "stopped" }] });
  expect(model.requests).toHaveLength(1);
  const endless = await serveModel("openai-compatible", () => ({
    text: Array.from({ length: 1000 }, () => "word "),
    pauseMs: 20,
  }));
  const second = new AbortController();
  const text = await ask({
    model: modelAt("openai-compatible", endless.url),
    signal: second.signal,
    emit: () => second.abort(),
  });
  expect([text.status, text.parts]).toEqual(["stopped", [{ kind: "text", text: expect.stringMatching(/^word/) }]]);
});

test("CHAT-1 values of the server's variables reach neither the model, nor the browser, nor the stored answer", async () => {
  const tools = closed(await modernTools());
  const model = await serveModel("openai-compatible", calling(["leak"]));
  const answer = await ask({ model: modelAt("openai-compatible", model.url), tools });
  expect(answer.calls).toMatchObject([{ result: { content: [{ text: "the password is [PASSWORD]" }] } }]);
  expect(JSON.stringify([answer, model.requests])).not.toContain("hunter2-hunter2");
});

test("CHAT-1 results are bounded: a large one is cut for the browser and more for the model; images are kept where they can be seen", async () => {
  const tools = closed(await modernTools());
  const large = await serveModel("openai-compatible", calling(["large"]));
  const answer = await ask({ model: modelAt("openai-compatible", large.url), tools });
  expect(answer.calls).toMatchObject([{ status: "done", truncated: true }]);
  expect(JSON.stringify(answer.parts).length).toBeLessThan(410_000);
  expect(JSON.stringify(large.requests[1]?.body.messages).length).toBeLessThan(60_000);
  for (const provider of providers) {
    const model = await serveModel(provider, calling(["picture"]));
    const { calls } = await ask({ model: modelAt(provider, model.url), tools });
    expect(calls).toMatchObject([{ result: { content: [{ type: "image" }] } }]);
    expect(JSON.stringify(model.requests[1]?.body.messages).includes("iVBORw0KGgo")).toBe(provider === "anthropic");
  }
});

test.runIf(isThorough)(
  "CHAT-1 all results of an answer together are bounded, and the model still reads each",
  async () => {
    const tools = closed(await modernTools());
    const model = await serveModel("openai-compatible", (_request, count) =>
      count > 8 ? { text: ["Done."] } : { calls: [{ id: `call-${count}`, name: "large", arguments: "{}" }] },
    );
    const answer = await ask({ model: modelAt("openai-compatible", model.url), tools });
    expect([answer.status, answer.calls.length]).toEqual(["done", 8]);
    expect(JSON.stringify(answer.parts).length).toBeLessThan(2_100_000);
    expect(answer.calls.at(-1)).toMatchObject({
      truncated: true,
      result: { content: [{ text: expect.stringMatching(/^x+…$/) }] },
    });
  },
);

test.runIf(isThorough)("CHAT-1 a model that never ends is stopped", async () => {
  const tools = closed(await modernTools());
  const model = await serveModel("openai-compatible", (_request, count) => ({
    calls: [{ id: `call-${count}`, name: "add", arguments: '{"a":1,"b":1}' }],
  }));
  const answer = await ask({ model: modelAt("openai-compatible", model.url), tools });
  expect(answer).toMatchObject({ status: "failed", problem: { code: "too_many_steps" } });
  expect(model.requests).toHaveLength(16);
});

test("CHAT-1 earlier questions and answers go with the next one, with their calls and results", async () => {
  const model = await serveModel("anthropic", () => ({ text: ["Yes."] }));
  const tools = closed(await modernTools());
  const first = await serveModel("openai-compatible", calling(["add", { a: 2, b: 3 }]));
  const { parts } = await ask({ model: modelAt("openai-compatible", first.url), tools });
  const history = [{ question: "What is 2 + 3?", parts }];
  const attached = ["[resource text://motd]\nhello"];
  await ask({ model: modelAt("anthropic", model.url), history, question: { text: "Sure?", attached } });
  const messages = model.requests[0]?.body.messages ?? [];
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  const sent = JSON.stringify(messages);
  for (const piece of ["What is 2 + 3?", '"tool_use"', '"a":2', '"tool_result"', "Done.", "text://motd", "Sure?"])
    expect(sent).toContain(piece);
});

test.each([
  [401, {}, "key_refused", /operator has to correct it/],
  [403, {}, "key_refused", /refused Towpath's key/],
  [404, {}, "model_missing", /model id or URL/],
  [429, { "retry-after": "7" }, "rate_limited", /in 7 s/],
  [402, {}, "rate_limited", /payment/],
  [500, {}, "model_unreachable", /HTTP 500/],
  [413, {}, "context_too_long", /new one/],
] as const)("CHAT-1 HTTP %i of a model says what to do", async (status, headers, code, message) => {
  for (const provider of providers) {
    const body = { type: "error", error: { type: "x", message: "bad key key-of-the-provider" } };
    const model = await serveModel(provider, () => ({ status, body, headers }));
    const answer = await ask({ model: modelAt(provider, model.url) });
    expect(answer).toMatchObject({ status: "failed", problem: { code, message: expect.stringMatching(message) } });
    expect(JSON.stringify(answer)).not.toContain("key-of-the-provider");
  }
});

test.each(providers)(
  "CHAT-1 %s: an answer is limited to the tokens of the setting; a cut one says so, and can be continued",
  async (provider) => {
    const model = await serveModel(provider, (_request, count) =>
      count === 1 ? { text: ["Half an ans"], isCut: true } : { text: ["wer."] },
    );
    const cut = await ask({ model: modelAt(provider, model.url) });
    expect(model.requests[0]?.body.max_tokens).toBe(100);
    expect(cut).toMatchObject({
      status: "failed",
      parts: [{ text: "Half an ans" }],
      inputTokens: 100,
      outputTokens: 20,
      problem: { code: "answer_cut", message: expect.stringMatching(/Tester's limit of 100 tokens .*continue/) },
    });
    const history = [{ question: "Please", parts: cut.parts }];
    const rest = await ask({ model: modelAt(provider, model.url), history, question: { text: "Go on", attached: [] } });
    expect(rest).toMatchObject({ status: "done", parts: [{ text: "wer." }] });
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain("Half an ans");
  },
);

test.runIf(isThorough)(
  "CHAT-1 a model that falls silent, before or within its answer, times out; its text is kept, and it can be asked again",
  async () => {
    const message = "Tester sent nothing for 3 s, so its answer was ended. Try again.";
    const problem = { code: "model_unreachable", message };
    const silent = async (provider: Provider, text: string[]) => {
      const model = await serveModel(provider, (_request, count) =>
        count === 1 ? { text, fallsSilent: true } : { text: ["Hi."] },
      );
      const setting = { model: { ...modelAt(provider, model.url), maxSilenceSeconds: 3 } };
      const parts = text.map((each) => ({ kind: "text", text: each }));
      expect(await ask(setting)).toMatchObject({ status: "failed", parts, problem });
      expect(await ask(setting)).toMatchObject({ status: "done", parts: [{ text: "Hi." }], problem: null });
    };
    await Promise.all(providers.flatMap((provider) => [silent(provider, []), silent(provider, ["Let me th"])]));
  },
);

test("CHAT-1 a chat that is too long, an answer that breaks off, and an unreachable model are reported", async () => {
  const failing = async (reply: ModelReply) => {
    const model = await serveModel("openai-compatible", () => reply);
    return ask({ model: modelAt("openai-compatible", model.url) });
  };
  const tooLong = {
    error: { message: "This model's maximum context length is 8192 tokens", code: "context_length_exceeded" },
  };
  expect(await failing({ status: 400, body: tooLong })).toMatchObject({ problem: { code: "context_too_long" } });
  expect(await failing({ status: 400, body: { error: { message: "no such field x" } } })).toMatchObject({
    problem: { code: "model_failed", message: "Tester refused the request: no such field x." },
  });
  expect(await failing({ text: ["Half"], breaksOff: true })).toMatchObject({
    status: "failed",
    parts: [{ text: "Half" }],
  });
  const unreachable = await ask({ model: modelAt("openai-compatible", "http://127.0.0.1:9/v1") });
  expect(unreachable).toMatchObject({ status: "failed", problem: { code: "model_unreachable" } });
});
