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

async function choose(provider: ChatModel["provider"], reply: ModelReply, signal = new AbortController().signal) {
  const server = await (provider === "anthropic" ? anthropicModel : openAiModel)(() => reply);
  closing.push(server);
  const model: ChatModel = {
    provider,
    name: "Tester",
    model: "t",
    url: server.url,
    key: "key-of-the-provider",
    maxOutputTokens: 100,
    maxSilenceSeconds: 90,
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

test("CAP-4 a model's failures are in words, without its key", async () => {
  const refused: ModelReply = { status: 401, body: { error: { message: "wrong key-of-the-provider" } } };
  await expect(choose("openai-compatible", refused)).rejects.toThrow(
    "Tester refused Towpath's key (HTTP 401). The operator has to correct it in TOWPATH_CHAT_MODELS.",
  );
  const long: ModelReply = { status: 400, body: { error: { message: "maximum context length exceeded" } } };
  await expect(choose("openai-compatible", long)).rejects.toThrow(
    "The tools and the question are longer than Tester can read.",
  );
  await expect(choose("openai-compatible", { text: ["Let me"], isCut: true })).rejects.toThrow("maxOutputTokens");
  await expect(choose("openai-compatible", { text: ["…"] }, AbortSignal.abort())).rejects.toThrow(/abort/i);
});
