import { afterEach, expect, test } from "vitest";
import { chooseTool } from "./choose-tool.ts";
import type { ChatModel } from "./config.ts";
import { anthropicModel, type ModelReply, type ModelServer, openAiModel } from "./testing/model-servers.ts";

const closing: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((server) => server.close()));
});

const tools = [
  { name: "files.find", description: "Finds files", inputSchema: { type: "object", properties: { name: {} } } },
  { name: "pay", inputSchema: { type: "object" } },
];

async function choose(
  provider: ChatModel["provider"],
  reply: ModelReply,
  { signal = new AbortController().signal, maxSilenceSeconds = 90 } = {},
) {
  const server = await (provider === "anthropic" ? anthropicModel : openAiModel)(() => reply);
  closing.push(server);
  const model: ChatModel = {
    provider,
    name: "Tester",
    model: "t",
    url: server.url,
    key: "key-of-the-provider",
    maxOutputTokens: 100,
    maxSilenceSeconds,
  };
  const choice = await chooseTool(model, { question: "Where is the plan?", tools }, signal);
  return { ...choice, asked: JSON.stringify(server.requests.map(({ body }) => body)) };
}

test.each(["openai-compatible", "anthropic"] as const)(
  "CAP-4 a model chooses a tool of the server and its arguments, or none, by one request: %s",
  async (provider) => {
    const calls = [
      { id: "1", name: "files_find", arguments: '{"name": "plan"}' },
      { id: "2", name: "pay", arguments: "{}" },
    ];
    const chosen = await choose(provider, { calls });
    expect(chosen).toMatchObject({ tool: "files.find", arguments: { name: "plan" }, inputTokens: 100 });
    expect(chosen.outputTokens).toBeGreaterThan(0);
    for (const piece of ["Where is the plan?", "Finds files", "files_find"]) expect(chosen.asked).toContain(piece);
    expect(await choose(provider, { text: ["None fits."] })).toMatchObject({ tool: null, arguments: null });
  },
);

const cost = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

test("CAP-4 a model's failures are in words, without its key, and what is refused costs nothing", async () => {
  const refused: ModelReply = { status: 401, body: { error: { message: "wrong key-of-the-provider" } } };
  expect(await choose("openai-compatible", refused)).toMatchObject({
    problem: "Tester refused Towpath's key (HTTP 401). The operator has to correct it in TOWPATH_CHAT_MODELS.",
    ...cost(0, 0),
  });
  const long: ModelReply = { status: 400, body: { error: { message: "maximum context length exceeded" } } };
  expect(await choose("openai-compatible", long)).toMatchObject({
    problem: "The tools and the question are longer than Tester can read.",
    ...cost(0, 0),
  });
  const aborted = { signal: AbortSignal.abort() };
  await expect(choose("openai-compatible", { text: ["…"] }, aborted)).rejects.toThrow(/abort/i);
});

test("CAP-4 an answer that is cut off, broken off, silent or ended costs its tokens: those that the model counts, or an estimate", async () => {
  for (const provider of ["openai-compatible", "anthropic"] as const) {
    const cut = await choose(provider, { text: ["Let me"], isCut: true });
    expect(cut).toMatchObject({ problem: "Tester reached its maxOutputTokens before it chose.", ...cost(100, 20) });
  }
  const text = ["a".repeat(40)];
  const estimate = cost(Math.ceil(("Where is the plan?".length + JSON.stringify(tools).length) / 4), 10);
  const broken = await choose("openai-compatible", { text, pauseMs: 100, breaksOff: true });
  expect(broken).toMatchObject({ problem: expect.stringContaining("broke off"), ...estimate });
  const early = await choose("openai-compatible", { text, breaksOff: true });
  expect(early).toMatchObject({ problem: expect.stringContaining("broke off"), inputTokens: estimate.inputTokens });
  const silent = await choose("openai-compatible", { text, fallsSilent: true }, { maxSilenceSeconds: 0.2 });
  expect(silent).toMatchObject({ problem: expect.stringContaining("sent nothing"), ...estimate });
  const ended = await choose("openai-compatible", { text, fallsSilent: true }, { signal: AbortSignal.timeout(200) });
  expect(ended).toMatchObject({ problem: "The question was ended.", ...estimate });
});
