import { user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { requireUser } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { updateProfileSchema } from "./account.schema.ts";

type ProfileNames = { readonly firstName: string; readonly lastName: string };

/** Changes the signed-in user's own name (ORG-4). */
export async function updateProfile(call: Call<z.input<typeof updateProfileSchema>>): Promise<ProfileNames> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const { firstName, lastName } = parseInput(updateProfileSchema, call.input);
  return ctx.db.transaction(async (tx) => {
    const names = { firstName, lastName, name: `${firstName} ${lastName}` };
    const changed = await tx
      .update(user)
      .set({ ...names, updatedAt: ctx.clock.now() })
      .where(eq(user.id, userId))
      .returning({ id: user.id });
    if (changed.length === 0) throw notFound("profile");
    await audit(tx, ctx, { organizationId: null, action: "account.update", subject: userId, detail: names });
    return { firstName, lastName };
  });
}
