import { openAiModel } from "@towpath/chat/testing";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../config.ts";
import { questionModelOf } from "./question-model.ts";

const settings = {
  DATABASE_URL: "postgresql://towpath@/towpath?host=/run/towpath",
  TOWPATH_DATA_DIR: "/data",
  TOWPATH_RUN_DIR: "/run/towpath",
  TOWPATH_SECRET: "a root secret for tests, at least 32 characters",
  TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
};

test("CAP-4 a worker asks the first model of the instance's settings, with its key; without one, none", async () => {
  const server = await openAiModel(({ body }) => ({
    calls: [{ id: "1", name: body.model, arguments: '{"city": "Oslo"}' }],
  }));
  onTestFinished(() => server.close());
  const common = { provider: "openai-compatible", url: server.url, key: "key-of-the-provider" };
  const models = [
    { ...common, name: "First", model: "forecast" },
    { ...common, name: "Second", model: "pay" },
  ];
  expect(questionModelOf(readConfig(settings).chat)).toBeNull();
  const { chat } = readConfig({
    ...settings,
    TOWPATH_CHAT_MODELS: JSON.stringify(models),
    TOWPATH_CHAT_TOKENS_PER_DAY: "5000",
  });
  const model = questionModelOf(chat);
  expect(model).toMatchObject({ name: "First", tokensPerDay: 5000 });
  const tools = [{ name: "forecast", description: "Forecasts", inputSchema: { type: "object" } }];
  const asked = { question: "Will it rain in Oslo?", tools };
  expect(await model?.choose(asked, new AbortController().signal)).toEqual({
    tool: "forecast",
    arguments: { city: "Oslo" },
    inputTokens: 100,
    outputTokens: 20,
  });
  expect(server.requests.map(({ key }) => key)).toEqual(["key-of-the-provider"]);
});
