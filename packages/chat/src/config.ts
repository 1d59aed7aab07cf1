import { z } from "zod";

const webAddress = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

const common = {
  /** Name shown to people. */
  name: z.string({ error: "is missing" }).min(1, "is missing").max(100, "has more than 100 characters"),
  /** The provider's id of the model. */
  model: z.string({ error: "is missing" }).min(1, "is missing"),
  /** Longest answer of the model at once. */
  maxOutputTokens: z.number({ error: "must be a number" }).int().min(1).max(1_000_000).default(8192),
  /** Maximum seconds until the first piece of an answer, and between two pieces. */
  maxSilenceSeconds: z.number({ error: "must be a number" }).min(1).max(3_600).default(90),
};
const modelSchema = z.discriminatedUnion(
  "provider",
  [
    z.object({
      ...common,
      provider: z.literal("openai-compatible"),
      url: webAddress,
      /** Absent for a local model without keys. */
      key: z.string({ error: "must be text" }).min(1, "is empty").optional(),
    }),
    z.object({
      ...common,
      provider: z.literal("anthropic"),
      url: webAddress.default("https://api.anthropic.com/v1"),
      key: z.string({ error: "is missing" }).min(1, "is missing"),
    }),
  ],
  { error: 'provider must be "openai-compatible" or "anthropic"' },
);
/** A model that people may chat with. `key` is sent to its provider only. */
export type ChatModel = z.infer<typeof modelSchema>;

const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which holds keys.
    context.addIssue({ code: "custom", message: "must be a JSON list" });
    return z.NEVER;
  }
});

const wholeNumber = (most: number) => z.coerce.number({ error: "must be a number" }).int().min(1).max(most);

/** Settings of the chat, for the object of a process's settings. */
export const chatSettings = {
  /** JSON: see `modelSchema`. The first one is the default. */
  TOWPATH_CHAT_MODELS: jsonText
    .pipe(
      z
        .array(modelSchema, { error: "must be a JSON list" })
        .max(20, "has more than 20 models")
        .refine((models) => new Set(models.map(({ name }) => name)).size === models.length, "has two of the same name"),
    )
    .default([]),
  /** Of one person. */
  TOWPATH_CHAT_QUESTIONS_PER_HOUR: wholeNumber(100_000).default(60),
  /** Of an organization, input and output together. */
  TOWPATH_CHAT_TOKENS_PER_DAY: wholeNumber(10_000_000_000).default(2_000_000),
};
