import type { Database } from "@towpath/db";
import { signInIssuer } from "@towpath/db/schema";
import { and, count, eq, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import { endIssuer } from "../../calling/oauth/internal.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { type CreateSignInIssuerInput, createSignInIssuerSchema } from "./sign-in-issuer.schema.ts";
import { requireSignInIssuer, type SignInIssuerView, signInIssuerViews } from "./sign-in-issuer.store.ts";

/** A company has one, and maybe another while it moves. */
const maxIssuers = 10;

/**
 * Lets clients in as members whom an identity provider names in its assertions (ID-JAG, CAP-3), once its keys were read
 * by its metadata.
 *
 * @throws TowpathError `forbidden` for a lower role; `invalid_input`, also when the keys can't be read
 */
export async function createSignInIssuer(call: Call<CreateSignInIssuerInput, "assertions">): Promise<SignInIssuerView> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "signInIssuer.manage", { orgSlug: call.input.orgSlug });
  const input = parseInput(createSignInIssuerSchema, call.input);
  if (new URL(input.issuer).origin === new URL(ctx.dashboardUrl).origin)
    throw invalid("issuer", "This instance itself is no identity provider.");
  await ctx.assertions.readKeys(input.issuer).catch((error: Error) => {
    throw invalid("issuer", error.message);
  });
  const [id, organizationId] = [newId(), organization.id];
  return ctx.db.transaction(async (tx) => {
    const [found] = await tx
      .select({ count: count() })
      .from(signInIssuer)
      .where(eq(signInIssuer.organizationId, organizationId));
    if (found && found.count >= maxIssuers)
      throw invalid("name", `An organization has at most ${maxIssuers} identity providers. Remove one first.`);
    const createdByUserId = ctx.actor.kind === "user" ? ctx.actor.userId : null;
    const inserted = await tx
      .insert(signInIssuer)
      .values({ ...input, id, organizationId, createdByUserId, createdAt: ctx.clock.now() })
      .onConflictDoNothing();
    if (inserted.rowCount !== 1) throw invalid("issuer", "This identity provider is already there.");
    await audit(tx, ctx, { organizationId, action: "signInIssuer.create", subject: id, detail: input });
    return requireSignInIssuer(tx, { organizationId, id });
  });
}

/** The organization's identity providers, newest first. */
export async function listSignInIssuers({
  ctx,
  input,
}: Call<{ readonly orgSlug: string }>): Promise<readonly SignInIssuerView[]> {
  const { organization } = await authorize(ctx, "signInIssuer.read", { orgSlug: input.orgSlug });
  return signInIssuerViews(ctx.db, organization.id);
}

/** Removes it: the access tokens that its assertions gave are refused within a second. */
export async function deleteSignInIssuer({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly issuerId: string }>): Promise<{ readonly id: string }> {
  const { organization } = await authorize(ctx, "signInIssuer.manage", { orgSlug: input.orgSlug });
  const organizationId = organization.id;
  const { id, name, issuer } = await requireSignInIssuer(ctx.db, { organizationId, id: input.issuerId });
  await ctx.db.transaction(async (tx) => {
    // Exchanges that are under way end first, and are then found.
    await tx.select({ id: signInIssuer.id }).from(signInIssuer).where(eq(signInIssuer.id, id)).for("update");
    const ended = await endIssuer(tx, ctx.clock.now(), id);
    await tx.delete(signInIssuer).where(eq(signInIssuer.id, id));
    const detail = { name, issuer, grants: ended };
    await audit(tx, ctx, { organizationId, action: "signInIssuer.delete", subject: id, detail });
  });
  return { id };
}

/** Whether any organization of the instance has one: the authorization server's metadata says so, and no more. */
export async function hasSignInIssuers({ ctx }: { readonly ctx: Context }): Promise<boolean> {
  const [found] = await ctx.db.select({ id: signInIssuer.id }).from(signInIssuer).limit(1);
  return found !== undefined;
}

/** Stores why an issuer's keys can't be read, for all organizations that have it; null: they can. */
export async function storeIssuerProblem(
  db: Database,
  { issuer, problem }: { readonly issuer: string; readonly problem: string | null },
): Promise<void> {
  const isOther = sql`${signInIssuer.problem} IS DISTINCT FROM ${problem}`;
  await db
    .update(signInIssuer)
    .set({ problem })
    .where(and(eq(signInIssuer.issuer, issuer), isOther));
}

const invalid = (field: string, message: string) =>
  new TowpathError("invalid_input", message, { fields: { [field]: message } });
