import { createApiKey, deleteApiKey, listApiKeys, listPersonalApiKeys, revokeApiKey } from "@towpath/core/api-key";
import { apiKeyKindSchema, createApiKeySchema } from "@towpath/core/api-key/schema";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { listProjects } from "@towpath/core/project";
import { z } from "zod";
import { operatorOrganization } from "./operator-route.server.ts";

const listSchema = z.object({ kind: apiKeyKindSchema.default("organization") });

/** The organization's own keys, or with `?kind=personal` those of all members (KEY-3). */
export async function organizationKeys(ctx: Context, slug: string, search: URLSearchParams) {
  const { kind } = parseInput(listSchema, Object.fromEntries(search));
  const orgSlug = await operatorOrganization(ctx, slug);
  return kind === "organization"
    ? listApiKeys({ ctx, input: { orgSlug } })
    : listPersonalApiKeys({ ctx, input: { orgSlug, of: "everyone" } });
}

export const newKeySchema = createApiKeySchema.omit({ kind: true, projectIds: true }).extend({
  /** Names of the servers that it may call; absent or null: all. */
  servers: z.array(z.string()).min(1).max(200).nullish(),
});

/** Creates a key of the organization: the operator is nobody as whom a key could act. */
export async function createOrganizationKey(ctx: Context, slug: string, input: z.output<typeof newKeySchema>) {
  const orgSlug = await operatorOrganization(ctx, slug);
  const { name, expiresInDays, servers } = input;
  const projectIds = servers ? await idsOf(ctx, orgSlug, servers) : null;
  return createApiKey({ ctx, input: { orgSlug, kind: "organization", name, expiresInDays, projectIds } });
}

/** @throws TowpathError `invalid_input` that names what the organization doesn't have */
async function idsOf(ctx: Context, orgSlug: string, names: readonly string[]): Promise<string[]> {
  const projects = await listProjects({ ctx, input: { orgSlug } });
  return names.map((name) => {
    const found = projects.find((project) => project.name.toLowerCase() === name.toLowerCase());
    if (found) return found.id;
    const message = `The organization ${orgSlug} has no server ${name}.`;
    throw new TowpathError("invalid_input", message, { fields: { servers: message } });
  });
}

type Named = { readonly slug: string; readonly keyId: string };

export async function revokeKeyById(ctx: Context, { slug, keyId }: Named) {
  return revokeApiKey({ ctx, input: { orgSlug: await operatorOrganization(ctx, slug), keyId } });
}

export async function deleteKeyById(ctx: Context, { slug, keyId }: Named) {
  return deleteApiKey({ ctx, input: { orgSlug: await operatorOrganization(ctx, slug), keyId } });
}
