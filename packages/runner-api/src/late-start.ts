import { z } from "zod";

/** A place in the code of a server. `isOwn`: in the server's own code, whose paths are relative to its directory. */
const frameSchema = z.object({
  file: z.string(),
  line: z.number().int(),
  name: z.string(),
  isOwn: z.boolean(),
});

/** What a server was doing that was neither ready nor had failed in time. */
export const lateStartSchema = z.object({
  /**
   * `starved`: it was ready to run, and the host's processors were busy with others. `busy`: it used its processor time.
   * `waiting`: it used little, though the host had more.
   */
  activity: z.enum(["starved", "busy", "waiting"]),
  /** Time that it was given, in milliseconds. */
  afterMs: z.number(),
  /** Processor time that it used, in milliseconds. */
  processorMs: z.number(),
  /** Where its own code stood, and then what that had called, the innermost call last; empty if that isn't known. */
  stack: z.array(frameSchema),
});
export type LateStart = z.infer<typeof lateStartSchema>;
export type StackFrame = z.infer<typeof frameSchema>;
