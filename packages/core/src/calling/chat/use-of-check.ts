import { chatUsage } from "@towpath/db/schema";
import { eq, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { checkOrganization } from "./begin-turn.ts";

type UseOfCheck = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly model: string;
  /** Of the organization, with its chats. */
  readonly tokensPerDay: number;
};

/**
 * Begins to count what the check of a pull request uses of a model, towards the limit of its organization (CAP-4). Returns its
 * id, for `recordUseOfCheck`; or in words why the model may not be asked.
 */
export async function countUseOfCheck(
  ctx: Context,
  { tokensPerDay, ...use }: UseOfCheck,
): Promise<{ readonly useId: string } | { readonly refusal: string }> {
  const time = ctx.clock.now();
  const useId = newId();
  try {
    await ctx.db.transaction(async (tx) => {
      await checkOrganization(tx, use.organizationId, tokensPerDay, time);
      await tx.insert(chatUsage).values({ id: useId, ...use, userId: null, time });
    });
    return { useId };
  } catch (error) {
    if (error instanceof TowpathError && error.code === "limit_reached") return { refusal: error.message };
    throw error;
  }
}

/** Adds the tokens of an answer. */
export async function recordUseOfCheck(
  ctx: Context,
  useId: string,
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
): Promise<void> {
  await ctx.db
    .update(chatUsage)
    .set({
      inputTokens: sql`${chatUsage.inputTokens} + ${inputTokens}`,
      outputTokens: sql`${chatUsage.outputTokens} + ${outputTokens}`,
    })
    .where(eq(chatUsage.id, useId));
}
