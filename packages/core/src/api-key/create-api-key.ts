import { newApiKey } from "@towpath/auth/credentials";
import { apikey } from "@towpath/db/schema";
import { audit } from "../audit/index.ts";
import { authorize } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { newId } from "../ids/index.ts";
import { parseInput } from "../input/index.ts";
import { type CreateApiKeyInput, createApiKeySchema } from "./api-key.schema.ts";
import { apiKeyView } from "./api-key.store.ts";
import type { NewApiKeyView } from "./api-key.view.ts";

const dayMs = 86_400_000;

/** Creates an API key of the organization. The answer is the only time that the key itself is seen (KEY-3). */
export async function createApiKey(call: { ctx: Context; input: CreateApiKeyInput }): Promise<NewApiKeyView> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "apiKey.create", { orgSlug: call.input.orgSlug });
  const input = parseInput(createApiKeySchema, call.input);
  const { key, hash, start } = newApiKey();
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .insert(apikey)
      .values({
        id: newId(),
        name: input.name,
        start,
        hash,
        organizationId: organization.id,
        expiresAt: input.expiresInDays ? new Date(now.getTime() + input.expiresInDays * dayMs) : null,
        createdByUserId: ctx.actor.kind === "user" ? ctx.actor.userId : null,
        createdAt: now,
        updatedAt: now,
      })
      .returning();
    if (!row) throw new TowpathError("internal", "The key could not be created.");
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "apiKey.create",
      subject: row.id,
      detail: { name: input.name, start },
    });
    return { ...apiKeyView(ctx, row), key };
  });
}
