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
