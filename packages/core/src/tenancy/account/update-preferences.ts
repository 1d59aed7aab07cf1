import { user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { requireUser } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { type Preferences, preferencesSchema } from "./account.schema.ts";

/** Changes how the signed-in user reads times (ORG-4). */
export async function updatePreferences(call: Call<Preferences>): Promise<Preferences> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const preferences = parseInput(preferencesSchema, call.input);
  return ctx.db.transaction(async (tx) => {
    const changed = await tx
      .update(user)
      .set({ ...preferences, updatedAt: ctx.clock.now() })
      .where(eq(user.id, userId))
      .returning({ id: user.id });
    if (changed.length === 0) throw notFound("profile");
    await audit(tx, ctx, { organizationId: null, action: "account.preferences", subject: userId, detail: preferences });
    return preferences;
  });
}
