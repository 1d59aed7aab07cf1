import { user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { actingUserId } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";

/** The author of commits by who acts. Addresses that lead nowhere, for whoever is no person: `.invalid` is nobody's (RFC 2606). */
export async function actingAuthor(ctx: Context): Promise<{ readonly name: string; readonly email: string }> {
  const userId = actingUserId(ctx);
  const [person] =
    userId === null
      ? []
      : await ctx.db.select({ name: user.name, email: user.email }).from(user).where(eq(user.id, userId));
  return person ?? { name: "Towpath", email: "towpath@towpath.invalid" };
}
