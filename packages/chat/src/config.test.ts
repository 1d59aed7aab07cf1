import { expect, test } from "vitest";
import { z } from "zod";
import { chatSettings } from "./config.ts";

const settings = z.object(chatSettings);
const parsed = (models: unknown) =>
  settings.safeParse({ TOWPATH_CHAT_MODELS: typeof models === "string" ? models : JSON.stringify(models) });
const claude = { name: "Claude", provider: "anthropic", model: "claude", key: "sk-secret" };
const local = { name: "Local", provider: "openai-compatible", model: "qwen", url: "http://localhost:11434/v1" };

test("CHAT-1 without settings there is no model, and the limits have defaults", () => {
  expect(settings.parse({})).toEqual({
    TOWPATH_CHAT_MODELS: [],
    TOWPATH_CHAT_QUESTIONS_PER_HOUR: 60,
    TOWPATH_CHAT_TOKENS_PER_DAY: 2_000_000,
  });
});

test("CHAT-1 several models of both kinds, in order; only a model without a key of its own may lack one", () => {
  expect(parsed([claude, local]).data?.TOWPATH_CHAT_MODELS).toEqual([
    { ...claude, url: "https://api.anthropic.com/v1", maxOutputTokens: 8192, maxSilenceSeconds: 90 },
    { ...local, maxOutputTokens: 8192, maxSilenceSeconds: 90 },
  ]);
  const limits = { maxOutputTokens: 500, maxSilenceSeconds: 600 };
  expect(parsed([{ ...local, ...limits }]).data?.TOWPATH_CHAT_MODELS).toEqual([{ ...local, ...limits }]);
});

test("CHAT-1 problems of a model are named at the start, without its key", () => {
  const wrong: [unknown, RegExp][] = [
    ["not JSON sk-secret", /must be a JSON list/],
    [{ ...claude }, /must be a JSON list/],
    [[{ ...claude, provider: "sk-secret" }], /openai-compatible.*anthropic/],
    [[{ ...claude, key: undefined }], /0\.key.*missing/],
    [[{ ...claude, key: "" }], /0\.key.*missing/],
    [[{ ...local, url: "sk-secret" }], /0\.url.*http/],
    [[{ ...local, url: "file:///etc/passwd" }], /0\.url.*http/],
    [[{ ...local, model: "" }], /0\.model.*missing/],
    [[claude, { ...claude, name: "" }], /1\.name.*missing/],
    [[claude, claude], /two of the same name/],
    [[{ ...claude, maxOutputTokens: 0 }], /0\.maxOutputTokens/],
    [[{ ...claude, maxSilenceSeconds: 0 }], /0\.maxSilenceSeconds/],
  ];
  for (const [models, problem] of wrong) {
    const { error } = parsed(models);
    const text = (error?.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`).join("\n");
    expect(text).toMatch(problem);
    expect(text).not.toContain("sk-secret");
  }
  expect(settings.safeParse({ TOWPATH_CHAT_QUESTIONS_PER_HOUR: "0" }).success).toBe(false);
  expect(settings.safeParse({ TOWPATH_CHAT_TOKENS_PER_DAY: "many" }).success).toBe(false);
});
