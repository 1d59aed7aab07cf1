import { user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { requireUser } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { pictureSchema } from "./picture.schema.ts";
import { checkedPicture, pictureUrl, storePicture } from "./picture.store.ts";

/**
 * Changes or removes the signed-in user's own picture (ORG-4).
 *
 * @throws TowpathError `invalid_input` with `fields.picture`
 */
export async function changeOwnPicture(call: {
  ctx: Context;
  input: z.input<typeof pictureSchema>;
}): Promise<{ readonly pictureUrl: string | null }> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const { picture } = parseInput(pictureSchema, call.input);
  const checked = picture === null ? null : checkedPicture(picture);
  return ctx.db.transaction(async (tx) => {
    if ((await tx.$count(user, eq(user.id, userId))) === 0) throw notFound("profile");
    await storePicture(tx, { userId }, checked, ctx.clock.now());
    const detail = { removed: checked === null };
    await audit(tx, ctx, { organizationId: null, action: "account.picture", subject: userId, detail });
    return { pictureUrl: checked && pictureUrl(checked.hash) };
  });
}
