import { user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { requireUser } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";

/** Hides the list of first steps from the signed-in user, of all servers and for good (SRC-4). */
export async function hideFirstSteps(call: { ctx: Context }): Promise<void> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  await ctx.db.transaction(async (tx) => {
    await tx.update(user).set({ hidesFirstSteps: true, updatedAt: ctx.clock.now() }).where(eq(user.id, userId));
    const detail = { hidesFirstSteps: true };
    await audit(tx, ctx, { organizationId: null, action: "account.preferences", subject: userId, detail });
  });
}
