import { z } from "zod";

/** What a process has let in of one caller, server or organization: its name, and milliseconds of its bucket. */
export const takenSchema = z.array(z.tuple([z.string().max(300), z.number().min(0)]));
export type Taken = z.infer<typeof takenSchema>[number];
