import { z } from "zod";

/** How project screens identify their project: by the first two segments of the URL. */
export const projectKeySchema = z.object({
  orgSlug: z.string().min(1).max(100),
  projectName: z.string().min(1).max(100),
});
export type ProjectKey = z.infer<typeof projectKeySchema>;

/** A project's key, and one of its branches; without it, production. */
export const branchKeySchema = projectKeySchema.extend({ branchId: z.uuid().optional() });
