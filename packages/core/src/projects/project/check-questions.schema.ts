import { z } from "zod";

const whole = (unit: string) => z.int({ error: `Enter a whole number of ${unit}` });

/** Questions that a model is asked with the tools of production and of a preview (CAP-4). Off by default. */
export const checkQuestionsSchema = z.object({
  isOn: z.boolean().default(false),
  /** Not for secrets: they are shown, also in checks, and exported. */
  texts: z
    .array(
      z
        .string()
        .trim()
        .min(1, "Enter a question")
        .max(1000, "A question has at most 1,000 characters")
        .refine((text) => !text.includes("\u0000"), "A question cannot contain a NUL character"),
    )
    .max(20, "Save at most 20 questions")
    .transform((texts) => [...new Set(texts)])
    .default([]),
  /** Of the model, three or four for each question. */
  calls: whole("calls").min(3, "Allow at least 3 calls").max(80, "Allow at most 80 calls").default(80),
  seconds: whole("seconds").min(5, "Allow at least 5 seconds").max(120, "Allow at most 120 seconds").default(60),
  tokens: whole("tokens")
    .min(1000, "Allow at least 1,000 tokens")
    .max(1_000_000, "Allow at most 1,000,000 tokens")
    .default(100_000),
});
export type CheckQuestions = z.output<typeof checkQuestionsSchema>;

const storedSchema = checkQuestionsSchema.nullable().catch(null);

/** As stored; a project that never set them has none, and asks none. */
export const checkQuestionsOf = ({ checkQuestions }: { readonly checkQuestions: unknown }): CheckQuestions =>
  storedSchema.parse(checkQuestions) ?? checkQuestionsSchema.parse({});
