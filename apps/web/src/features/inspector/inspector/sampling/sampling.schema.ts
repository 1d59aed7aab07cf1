import type { Sampling } from "@towpath/mcp/web-client";
import { z } from "zod";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";

const maxMessages = 50;
const maxText = 100_000;

export const askModelSchema = projectKeySchema.extend({
  messages: z
    .array(z.object({ role: z.enum(["user", "assistant"]), text: z.string().min(1).max(maxText) }))
    .min(1)
    .max(maxMessages),
  systemPrompt: z.string().max(maxText).nullable(),
  maxTokens: z.int().min(1),
});
export type ModelQuestion = Omit<z.infer<typeof askModelSchema>, keyof z.infer<typeof projectKeySchema>>;

const textBlock = z.object({ type: z.literal("text"), text: z.string().min(1) });

/** A server's request as texts; null if it has other content, such as an image, or is too long. */
export function textsOf({ messages, systemPrompt, maxTokens }: Sampling): ModelQuestion | null {
  const texts = messages.map(({ role, content }) => {
    const blocks = z.array(textBlock).safeParse(Array.isArray(content) ? content : [content]);
    return { role, text: blocks.success ? blocks.data.map(({ text }) => text).join("\n") : "" };
  });
  const question = askModelSchema
    .pick({ messages: true, systemPrompt: true, maxTokens: true })
    .safeParse({ messages: texts, systemPrompt, maxTokens });
  return question.success ? question.data : null;
}
