import { z } from "zod";

/**
 * Whom a key authenticates (KEY-3). `personal`: the person who created it, with the role that they have at each call;
 * it ends with their membership. `organization`: the organization itself; it outlasts memberships.
 */
export const apiKeyKindSchema = z.enum(["personal", "organization"], { error: "Choose whose key it is" });
export type ApiKeyKind = z.infer<typeof apiKeyKindSchema>;

/**
 * What a key is for. `call`: it calls servers, and nothing else. `manage`: it also deploys, changes and deletes them over
 * REST, with the role of its person; a key of the organization does so as an admin.
 */
export const apiKeyScopeSchema = z.enum(["call", "manage"], { error: "Choose call or manage" });
export type ApiKeyScope = z.infer<typeof apiKeyScopeSchema>;

export const createApiKeySchema = z.object({
  kind: apiKeyKindSchema,
  scope: apiKeyScopeSchema.default("call"),
  name: z
    .string({ error: "Key name is required" })
    .trim()
    .min(1, { error: "Key name is required", abort: true })
    .max(64, "Key name must be 64 characters or less"),
  /** The servers that it may call or manage; null: all of the organization, future ones included. */
  projectIds: z
    .array(z.uuid())
    .min(1, "Choose at least one server")
    .max(200, "Choose at most 200 servers")
    .nullish()
    .transform((ids) => (ids ? [...new Set(ids)] : null)),
  /** Days until it expires; null: never. */
  expiresInDays: z
    .number()
    .int()
    .min(1, "Expiry must be at least 1 day")
    .max(3650, "Expiry must be 3650 days or less")
    .nullish(),
});
export type CreateApiKeyInput = z.input<typeof createApiKeySchema> & { readonly orgSlug: string };

/** Whose personal keys to list: one's own, or, for roles that manage keys, those of all members. */
export const personalKeysOfSchema = z.enum(["me", "everyone"]).default("me");
