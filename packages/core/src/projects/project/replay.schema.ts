import { z } from "zod";

const whole = (unit: string) => z.int({ error: `Enter a whole number of ${unit}` });

/** How production's calls are replayed on previews (CAP-4). Where a project has none, no call is sampled. */
export const replaySettingSchema = z.object({
  /** Tools whose calls are replayed although they are not marked as read-only. */
  tools: z
    .array(z.string().trim().min(1, "Name a tool").max(255, "Tool name is too long (max 255 characters)"))
    .max(100, "Name at most 100 tools")
    .transform((names) => [...new Set(names)])
    .default([]),
  /** Whether the check of a preview fails whose answers, or a model's choices, are different. */
  isRequired: z.boolean().default(false),
  calls: whole("calls").min(1, "Replay at least one call").max(200, "Replay at most 200 calls").default(50),
  seconds: whole("seconds").min(5, "Allow at least 5 seconds").max(120, "Allow at most 120 seconds").default(45),
  keepDays: whole("days").min(1, "Keep calls for at least a day").max(90, "Keep calls for at most 90 days").default(14),
});
export type ReplaySetting = z.output<typeof replaySettingSchema>;

/** As stored; null: calls are not replayed. */
export const replaySettingOf = ({ replay }: { readonly replay: unknown }): ReplaySetting | null =>
  replaySettingSchema.nullable().catch(null).parse(replay);
