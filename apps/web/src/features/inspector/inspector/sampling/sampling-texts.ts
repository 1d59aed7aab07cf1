import type { Sampling } from "@towpath/mcp/web-client";
import { isObject, isText } from "~/features/shared/project-screen/json.ts";
import { type ModelQuestion, maxSampledMessages, maxSampledText } from "./sampling.schema.ts";

const isFit = (text: string) => text !== "" && text.length <= maxSampledText;

/** A server's request as texts; null if it has other content, such as an image, or is too long. */
export function textsOf({ messages, systemPrompt, maxTokens }: Sampling): ModelQuestion | null {
  const texts = messages.map(({ role, content }) => ({ role, text: textOf(content) }));
  const isRightNumber = texts.length > 0 && texts.length <= maxSampledMessages;
  if (!isRightNumber || (systemPrompt?.length ?? 0) > maxSampledText) return null;
  return texts.every(({ text }) => isFit(text)) ? { messages: texts, systemPrompt, maxTokens } : null;
}

/** Empty for a message with other content than text. */
function textOf(content: unknown): string {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks.map((block) =>
    isObject(block) && block.type === "text" && isText(block.text) && block.text !== "" ? block.text : null,
  );
  return texts.includes(null) ? "" : texts.join("\n");
}
