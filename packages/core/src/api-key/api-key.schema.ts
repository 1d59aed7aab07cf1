import { z } from "zod";

export const createApiKeySchema = z.object({
  name: z
    .string({ error: "Key name is required" })
    .trim()
    .min(1, { error: "Key name is required", abort: true })
    .max(64, "Key name must be 64 characters or less"),
  /** Days until it expires; null: never. */
  expiresInDays: z
    .number()
    .int()
    .min(1, "Expiry must be at least 1 day")
    .max(3650, "Expiry must be 3650 days or less")
    .nullish(),
});
export type CreateApiKeyInput = z.input<typeof createApiKeySchema> & { readonly orgSlug: string };
