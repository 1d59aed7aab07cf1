import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import {
  createApiKey,
  deleteApiKey,
  listApiKeys,
  listPersonalApiKeys,
  revokeApiKey,
} from "@towpath/core/tenancy/api-key";
import { createApiKeySchema, personalKeysOfSchema } from "@towpath/core/tenancy/api-key/schema";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { exactInput, input } from "~/http/input.ts";

const organizationInput = z.object({ orgSlug: z.string() });
const keyInput = organizationInput.extend({ keyId: z.uuid() });

/** The organization's own keys, without the keys themselves (KEY-3). */
const getOrganizationKeys = createServerFn({ method: "GET" })
  .middleware([organizationAccess("apiKey.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => listApiKeys({ ctx: context.ctx, input: data }));

/** The user's own keys for this organization, or those of all members. The verb decides who may see the latter. */
const getPersonalKeys = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(organizationInput.extend({ of: personalKeysOfSchema })))
  .handler(({ context, data }) => listPersonalApiKeys({ ctx: context.ctx, input: data }));

/** Creates a key. Only this response contains it (KEY-3). The verb decides who may create keys of the organization. */
export const createKey = createServerFn({ method: "POST" })
  .middleware([organizationAccess("apiKey.create")])
  .validator(exactInput(createApiKeySchema.extend({ orgSlug: z.string() })))
  .handler(({ context, data }) => createApiKey({ ctx: context.ctx, input: data }));

/** Revokes a key and keeps it in the list. The verb decides whose keys the user may revoke. */
export const revokeKey = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(keyInput))
  .handler(({ context, data }) => revokeApiKey({ ctx: context.ctx, input: data }));

/** Revokes a key and removes it from the list. */
export const deleteKey = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(keyInput))
  .handler(({ context, data }) => deleteApiKey({ ctx: context.ctx, input: data }));

export type KeyList = "organization" | "me" | "everyone";

/** All lists of an organization's keys. */
export const apiKeysQueryKey = (orgSlug: string) => ["api-keys", orgSlug] as const;

export const apiKeysQuery = (orgSlug: string, list: KeyList) =>
  queryOptions({
    queryKey: [...apiKeysQueryKey(orgSlug), list],
    queryFn: ({ signal }) =>
      list === "organization"
        ? getOrganizationKeys({ data: { orgSlug }, signal })
        : getPersonalKeys({ data: { orgSlug, of: list }, signal }),
  });
