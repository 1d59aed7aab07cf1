import { z } from "zod";

/** How every project screen names its project: by the two segments of its address. */
export const projectKeySchema = z.object({
  orgSlug: z.string().min(1).max(100),
  projectName: z.string().min(1).max(100),
});
export type ProjectKey = z.infer<typeof projectKeySchema>;
