import type { Transaction } from "@towpath/db";
import { member } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorize, requireUser, roleMay } from "../../authorize/index.ts";
import type { Call, Context, Role } from "../../context/index.ts";
import { roles } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { isId, parseInput } from "../../input/index.ts";
import { revokeKeysOfCreator } from "../api-key/internal.ts";
import { changeRoleSchema, type RevokedKeys, removeMemberSchema } from "./member.schema.ts";
import { listMemberViews, lockMembers, type MemberRow, type MemberView, revokeInvitationsOf } from "./member.store.ts";

type MemberInput = { readonly orgSlug: string; readonly userId: string };
type Organization = { readonly id: string; readonly name: string };

/** The members of an organization, those who joined first first (ORG-6). */
export async function listMembers({ ctx, input }: Call<{ readonly orgSlug: string }>): Promise<readonly MemberView[]> {
  const { organization } = await authorize(ctx, "member.read", { orgSlug: input.orgSlug });
  return listMemberViews(ctx.db, organization.id);
}

/**
 * Changes a member's role; it counts at once, on every gateway within seconds (ORG-6). Only owners make owners or change
 * one. Who can no longer invite loses the invitations that they have sent.
 *
 * @throws TowpathError `not_found`, `forbidden`; `conflict` for the last owner
 */
export async function changeMemberRole({
  ctx,
  input,
}: Call<MemberInput & { readonly role: Role }>): Promise<{ readonly userId: string; readonly role: Role }> {
  const { organization } = await authorize(ctx, "member.manage", { orgSlug: input.orgSlug });
  const { role } = parseInput(changeRoleSchema, input);
  await ctx.db.transaction(async (tx) => {
    const { target } = await requireChangeable(tx, ctx, organization, { userId: input.userId, to: role });
    if (target.role === role) return;
    await tx
      .update(member)
      .set({ role })
      .where(and(eq(member.organizationId, organization.id), eq(member.userId, target.userId)));
    if (!roleMay(role, "member.manage")) await revokeInvitationsOf(tx, organization.id, target.userId);
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "member.changeRole",
      subject: target.userId,
      detail: { name: target.name, email: target.email, from: target.role, to: role },
    });
  });
  return { userId: input.userId, role };
}

/**
 * Ends a membership with the person's keys for the organization and the invitations that they have sent (ORG-6). Calls
 * and open streams of theirs end within seconds. `revokeKeys`: which of the organization's keys that they created, and
 * may have kept, end with it; by default none, since others may use them.
 *
 * @throws TowpathError as `changeMemberRole`; `invalid_input` for a key that they didn't create
 */
export async function removeMember({
  ctx,
  input,
}: Call<MemberInput & z.input<typeof removeMemberSchema>>): Promise<{ readonly userId: string }> {
  const { organization } = await authorize(ctx, "member.manage", { orgSlug: input.orgSlug });
  const { revokeKeys } = parseInput(removeMemberSchema, { revokeKeys: input.revokeKeys });
  await endMembership(ctx, organization, { userId: input.userId, action: "member.remove", revokeKeys });
  return { userId: input.userId };
}

/** The same for oneself, in any role (ORG-6). @throws TowpathError `conflict` for the last owner */
export async function leaveOrganization({
  ctx,
  input,
}: Call<{ readonly orgSlug: string }>): Promise<{ readonly userId: string }> {
  const { organization } = await authorize(ctx, "organization.read", { orgSlug: input.orgSlug });
  const userId = requireUser(ctx);
  await endMembership(ctx, organization, { userId, action: "member.leave" });
  return { userId };
}

async function endMembership(
  ctx: Context,
  organization: Organization,
  end: {
    readonly userId: string;
    readonly action: "member.remove" | "member.leave";
    readonly revokeKeys?: RevokedKeys;
  },
): Promise<void> {
  const { userId, action, revokeKeys = [] } = end;
  await ctx.db.transaction(async (tx) => {
    const { target } = await requireChangeable(tx, ctx, organization, { userId, to: null });
    await tx.delete(member).where(and(eq(member.organizationId, organization.id), eq(member.userId, userId)));
    await revokeInvitationsOf(tx, organization.id, userId);
    await audit(tx, ctx, {
      organizationId: organization.id,
      action,
      subject: userId,
      detail: { name: target.name, email: target.email, role: target.role },
    });
    await revokeKeysOfCreator(tx, ctx, { organizationId: organization.id, userId, keys: revokeKeys });
  });
}

/** The member, if the actor may give them the role `to`, or end their membership (null), now that others wait. */
async function requireChangeable(
  tx: Transaction,
  ctx: Context,
  organization: Organization,
  { userId, to }: { readonly userId: string; readonly to: Role | null },
): Promise<{ readonly target: MemberRow }> {
  if (!isId(userId)) throw notFound("member");
  const { actor } = ctx;
  const actorId = actor.kind === "user" ? actor.userId : null;
  const rows = await lockMembers(tx, organization.id, [userId, ...(actorId === null ? [] : [actorId])]);
  const target = rows.find((row) => row.userId === userId);
  if (!target) throw notFound("member");
  const actorRole =
    actorId === null ? "owner" : roles.find((role) => role === rows.find((row) => row.userId === actorId)?.role);
  const leaves = to === null && userId === actorId;
  if (!actorRole || !(leaves || roleMay(actorRole, "member.manage")))
    throw forbidden("your role in this organization does not allow this.");
  const concernsOwner = target.role === "owner" || to === "owner";
  if (concernsOwner && actorRole !== "owner") throw forbidden("only owners may add, change or remove owners.");
  const owners = rows.filter((row) => row.role === "owner");
  if (target.role === "owner" && to !== "owner" && owners.length === 1) throw lastOwner(organization);
  return { target };
}

const forbidden = (why: string) => new TowpathError("forbidden", `Forbidden: ${why}`);

const lastOwner = ({ name }: Organization) =>
  new TowpathError("conflict", `${name} needs an owner. Make someone else an owner first, or delete the organization.`);
