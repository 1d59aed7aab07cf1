import { z } from "zod";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";

export const maxSampledMessages = 50;
/** In characters. */
export const maxSampledText = 100_000;

export const askModelSchema = projectKeySchema.extend({
  messages: z
    .array(z.object({ role: z.enum(["user", "assistant"]), text: z.string().min(1).max(maxSampledText) }))
    .min(1)
    .max(maxSampledMessages),
  systemPrompt: z.string().max(maxSampledText).nullable(),
  maxTokens: z.int().min(1),
});
export type ModelQuestion = Omit<z.infer<typeof askModelSchema>, keyof z.infer<typeof projectKeySchema>>;
