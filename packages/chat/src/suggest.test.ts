import { afterEach, expect, test } from "vitest";
import type { ChatModel } from "./config.ts";
import { suggestByModel, suggestFromTemplates } from "./suggest.ts";
import { anthropicModel, type ModelReply, type ModelServer, openAiModel } from "./testing/model-servers.ts";
import { manifestOf } from "./testing/tool-servers.ts";

const closing: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((server) => server.close()));
});

const manifest = manifestOf([
  { name: "delete_all", annotations: {} },
  { name: "add", inputSchema: { properties: { a: {}, b: {} } } },
]);

async function suggested(reply: ModelReply) {
  const server = await openAiModel(() => reply);
  closing.push(server);
  const common = { name: "Tester", model: "t", url: server.url, maxOutputTokens: 100, maxSilenceSeconds: 90 };
  const model: ChatModel = { ...common, provider: "openai-compatible" };
  const found = await suggestByModel(model, manifest, new AbortController().signal);
  return { ...found, asked: JSON.stringify(server.requests[0]?.body) };
}

test("CHAT-2 a model makes questions from tools and their arguments; a fence around its list does no harm", async () => {
  const { questions, asked, inputTokens } = await suggested({
    text: ['```json\n["What is 1 + 1?", " Add 2 and 3. "]\n```'],
  });
  expect([questions, inputTokens]).toEqual([["What is 1 + 1?", "Add 2 and 3."], 100]);
  for (const piece of ["delete_all", "add", "Does add"]) expect(asked).toContain(piece);
});

test("CHAT-2 an answer that is no list of questions gives none, and never more than four", async () => {
  for (const text of ["I can't.", "[]", "[1, 2]", '{"a": 1}', `["${"x".repeat(200)}"]`])
    expect([text, (await suggested({ text: [text] })).questions]).toEqual([text, null]);
  const many = JSON.stringify(Array.from({ length: 9 }, (_, index) => `Question ${index}?`));
  expect((await suggested({ text: [many] })).questions).toHaveLength(4);
});

test("CHAT-2 templates take tools that only read first, and the first sentence of their description", () => {
  const described = manifestOf([{ name: "wipe", annotations: {} }, { name: "search" }]);
  const [wipe, search] = described.tools;
  if (!wipe || !search) throw new Error("there are two tools");
  search.description = "Finds documents by their words. Slow.";
  expect(suggestFromTemplates(described)).toEqual([
    "What can you do with this server's tools?",
    "Show me an example of search: finds documents by their words.",
    "Show me an example of wipe: does wipe.",
  ]);
  const resource = { resource_name: "motd", uri: "text://motd", title: null, description: null, mimeType: null };
  expect(suggestFromTemplates({ ...manifestOf([]), resources: [resource] })).toEqual([
    "What does the resource motd say?",
  ]);
  expect(suggestFromTemplates(manifestOf([]))).toEqual([]);
});

test("CHAT-2 failures of the provider are thrown", async () => {
  const server = await anthropicModel(() => ({ status: 401, body: { error: { message: "no" } } }));
  closing.push(server);
  const common = { name: "Tester", model: "t", url: server.url, maxOutputTokens: 100, maxSilenceSeconds: 90 };
  const asked = suggestByModel({ ...common, provider: "anthropic", key: "k" }, manifest, new AbortController().signal);
  await expect(asked).rejects.toMatchObject({ statusCode: 401 });
});
