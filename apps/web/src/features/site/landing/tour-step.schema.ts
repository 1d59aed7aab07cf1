import { z } from "zod";

/** Front matter of a step of the tour (`tour/`), whose text is its picture. */
export const tourStepSchema = z.strictObject({
  title: z.string().min(1).max(60),
  text: z.string().min(1).max(220),
});
export type TourStep = z.infer<typeof tourStepSchema>;
