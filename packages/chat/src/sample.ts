import { generateText } from "ai";
import type { ChatModel } from "./config.ts";
import type { Usage } from "./model-step.ts";
import { languageModel } from "./models.ts";

const timeoutMs = 60_000;

/**
 * Answers an MCP server's request to a model (sampling), without tools.
 *
 * @throws the provider's error
 */
export async function sampleByModel(
  model: ChatModel,
  question: {
    readonly messages: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
    readonly systemPrompt: string | null;
    readonly maxTokens: number;
  },
  signal: AbortSignal,
): Promise<{ readonly text: string } & Usage> {
  const { text, usage } = await generateText({
    model: languageModel(model),
    ...(question.systemPrompt !== null && { instructions: question.systemPrompt }),
    messages: question.messages.map(({ role, text: content }) => ({ role, content })),
    maxOutputTokens: Math.min(question.maxTokens, model.maxOutputTokens),
    maxRetries: 0,
    abortSignal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  return { text, inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 };
}
