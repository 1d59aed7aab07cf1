import { z } from "zod";

/** Display name, from which the slug is derived. */
export const organizationNameSchema = z
  .string({ error: "Organization name is required" })
  .trim()
  .min(1, { error: "Organization name is required", abort: true })
  .max(64, { error: "Organization name must be 64 characters or less", abort: true })
  .regex(/[\p{L}\p{N}]/u, "Organization name must contain a letter or number");

export const createOrganizationSchema = z.object({ name: organizationNameSchema });
export type CreateOrganizationInput = z.input<typeof createOrganizationSchema>;

/** First path segment of the organization's pages. */
export const organizationSlugSchema = z
  .string()
  .trim()
  .min(2, { error: "The address must be at least 2 characters long", abort: true })
  .max(40, { error: "The address must be 40 characters or less", abort: true })
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    "The address may contain lowercase letters, numbers and single hyphens between them",
  );

/** What is left out stays as it is. */
export const updateOrganizationSchema = z.object({
  name: organizationNameSchema.optional(),
  slug: organizationSlugSchema.optional(),
});
export type UpdateOrganizationInput = z.input<typeof updateOrganizationSchema>;

export const userIdsSchema = z.object({
  userIds: z.array(z.uuid()).max(200, "Ask for at most 200 people at a time"),
});
