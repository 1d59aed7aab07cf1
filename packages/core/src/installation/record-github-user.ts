import { user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { audit } from "../audit/index.ts";
import { requireUser } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound } from "../errors/index.ts";
import { parseInput } from "../input/index.ts";

const inputSchema = z.object({ githubUserId: z.number().int().positive() });

/** Remembers which GitHub account the signed-in user has authorized the App with (`Profile.githubUserId`). */
export async function recordGitHubUser(call: {
  ctx: Context;
  input: { readonly githubUserId: number };
}): Promise<void> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const { githubUserId } = parseInput(inputSchema, call.input);
  await ctx.db.transaction(async (tx) => {
    const changed = await tx
      .update(user)
      .set({ githubUserId, updatedAt: ctx.clock.now() })
      .where(eq(user.id, userId))
      .returning({ id: user.id });
    if (changed.length === 0) throw notFound("profile");
    await audit(tx, ctx, {
      organizationId: null,
      action: "user.connect-github",
      subject: userId,
      detail: { githubUserId },
    });
  });
}
