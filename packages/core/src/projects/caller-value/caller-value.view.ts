import { z } from "zod";

/** A variable for which each caller has a value of their own, as one person sees it. Never the value. */
const callerValueViewSchema = z.object({
  keyName: z.string(),
  /** What the server's owner says about it. */
  description: z.string().nullable(),
  /** When the person set it last; null: they have not. */
  setAt: z.iso.datetime().nullable(),
});

/** A server with such variables. */
export const callerValuesViewSchema = z.object({
  projectId: z.uuid(),
  orgSlug: z.string(),
  organization: z.string(),
  name: z.string(),
  values: z.array(callerValueViewSchema).readonly(),
  isChecked: z.boolean().describe("its owner named a tool call by which values are checked"),
});
export type CallerValuesView = z.infer<typeof callerValuesViewSchema>;

/** How a check of a person's values ended. */
export const valueCheckSchema = z.object({
  outcome: z
    .enum(["accepted", "refused", "unclear"])
    .describe("refused: the tool failed; unclear: it could not be called, which says nothing of the values"),
  /** What the server answered, without values; null when it accepted them. */
  answer: z.string().nullable(),
});
export type ValueCheckView = z.infer<typeof valueCheckSchema>;
