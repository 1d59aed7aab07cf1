import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { createApiKey, deleteApiKey, listApiKeys, revokeApiKey } from "@towpath/core/api-key";
import { createApiKeySchema } from "@towpath/core/api-key/schema";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

const organizationInput = z.object({ orgSlug: z.string() });
const keyInput = organizationInput.extend({ keyId: z.uuid() });

/** The organization's keys, without the keys themselves (KEY-3). */
const getApiKeys = createServerFn({ method: "GET" })
  .middleware([organizationAccess("apiKey.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => listApiKeys({ ctx: context.ctx, input: data }));

/** Creates a key. Only this response contains it (KEY-3). */
export const createKey = createServerFn({ method: "POST" })
  .middleware([organizationAccess("apiKey.create")])
  .validator(input(createApiKeySchema.extend({ orgSlug: z.string() })))
  .handler(({ context, data }) => createApiKey({ ctx: context.ctx, input: data }));

/** Revokes a key and keeps it in the list. The verb decides whose keys the user may revoke. */
export const revokeKey = createServerFn({ method: "POST" })
  .middleware([organizationAccess("apiKey.create")])
  .validator(input(keyInput))
  .handler(({ context, data }) => revokeApiKey({ ctx: context.ctx, input: data }));

/** Revokes a key and removes it from the list. */
export const deleteKey = createServerFn({ method: "POST" })
  .middleware([organizationAccess("apiKey.create")])
  .validator(input(keyInput))
  .handler(({ context, data }) => deleteApiKey({ ctx: context.ctx, input: data }));

export const apiKeysQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["api-keys", orgSlug],
    queryFn: ({ signal }) => getApiKeys({ data: { orgSlug }, signal }),
  });
