import { serverIcon } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";

/**
 * An icon by the hash of its bytes, for everybody: public pages and people who sign in to a server show it, too. Nobody
 * finds the hash of an icon that no page showed them.
 *
 * @throws TowpathError `not_found`
 */
export async function getServerIcon(call: {
  ctx: Pick<Context, "db">;
  input: { readonly hash: string };
}): Promise<{ readonly contentType: string; readonly bytes: Buffer }> {
  const { hash } = call.input;
  const [found] = /^[\w-]{43}$/.test(hash)
    ? await call.ctx.db
        .select({ contentType: serverIcon.contentType, bytes: serverIcon.bytes })
        .from(serverIcon)
        .where(eq(serverIcon.hash, hash))
        .limit(1)
    : [];
  if (!found) throw notFound("icon");
  return found;
}
