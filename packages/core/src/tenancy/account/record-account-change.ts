import { audit } from "../../audit/index.ts";
import { requireUser } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import type { AccountAction } from "./account.schema.ts";

/**
 * Records a change of an account that better-auth made (decision 020): who, what, when, from where (ORG-10). It belongs to
 * no organization.
 *
 * @throws TowpathError `not_found` for a user and somebody else's account
 */
export async function recordAccountChange(call: {
  ctx: Context;
  input: {
    readonly userId: string;
    readonly action: AccountAction;
    /** What changed. Never a secret. */
    readonly detail?: Readonly<Record<string, string>>;
  };
}): Promise<void> {
  const { ctx, input } = call;
  if (ctx.actor.kind === "user" && requireUser(ctx) !== input.userId) throw notFound("account");
  await ctx.db.transaction((tx) =>
    audit(tx, ctx, {
      organizationId: null,
      action: input.action,
      subject: input.userId,
      ...(input.detail && { detail: input.detail }),
    }),
  );
}
