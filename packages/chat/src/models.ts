import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import type { ChatModel } from "./config.ts";

/** For the library of providers. */
export function languageModel(model: ChatModel): LanguageModel {
  if (model.provider === "anthropic") {
    return createAnthropic({ baseURL: model.url, apiKey: model.key })(model.model);
  }
  const { url, key } = model;
  const provider = createOpenAICompatible({
    name: "openai-compatible",
    baseURL: url,
    includeUsage: true,
    ...(key !== undefined && { apiKey: key }),
  });
  return provider(model.model);
}

/** Whether results of tools may hold images. OpenAI's format allows only text there. */
export const seesImages = (model: ChatModel): boolean => model.provider === "anthropic";
