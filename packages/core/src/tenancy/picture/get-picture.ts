import { requireUser } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { pictureHashSchema } from "./picture.schema.ts";
import { findPicture } from "./picture.store.ts";

/**
 * A picture by the hash of its bytes: the user's own, and those of their organizations and of the people there.
 *
 * @throws TowpathError `not_found` for any other, and for one that was replaced
 */
export async function getPicture(call: {
  ctx: Context;
  input: { readonly hash: string };
}): Promise<{ readonly contentType: string; readonly bytes: Buffer }> {
  const userId = requireUser(call.ctx);
  const { data } = pictureHashSchema.safeParse(call.input);
  const found = data && (await findPicture(call.ctx.db, userId, data.hash));
  if (!found) throw notFound("picture");
  return found;
}
