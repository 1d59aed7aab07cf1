import { authorize } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { apiKeyView, listApiKeyRows } from "./api-key.store.ts";
import type { ApiKeyView } from "./api-key.view.ts";

/** The API keys of an organization, newest first, revoked and expired ones too (KEY-3). */
export async function listApiKeys(call: {
  ctx: Context;
  input: { readonly orgSlug: string };
}): Promise<readonly ApiKeyView[]> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "apiKey.read", { orgSlug: input.orgSlug });
  return (await listApiKeyRows(ctx.db, organization.id)).map((row) => apiKeyView(ctx, row));
}
