import { member, user } from "@towpath/db/schema";
import { and, asc, eq, inArray } from "drizzle-orm";
import { authorize, requireUser, roleMay } from "../../authorize/index.ts";
import { type Call, type Context, roles } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import { displayNameOf } from "./get-profile.ts";
import { userIdsSchema } from "./organization.schema.ts";

/** The specification's User, as other members of an organization see them (ORG-11). */
export type UserProfileView = {
  readonly id: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** First and last name joined, else the part of the email before `@` (AUTH-10). */
  readonly displayName: string;
  readonly email: string;
  readonly profilePictureUrl: string | null;
};

/** The profiles of an organization's members, those who joined first first (ORG-11). */
export async function listUserProfiles({
  ctx,
  input,
}: Call<{ readonly organizationId: string }>): Promise<readonly UserProfileView[]> {
  const { organization } = await authorize(ctx, "member.read", { organizationId: input.organizationId });
  const rows = await ctx.db
    .select({ user })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(eq(member.organizationId, organization.id))
    .orderBy(asc(member.createdAt), asc(member.id));
  return rows.map((row) => viewOf(row.user));
}

/**
 * Profiles by the users' ids, of any organization that the signed-in user is in (ORG-11). Ids of others are left out,
 * as are those of nobody: a profile can't be probed for.
 *
 * @throws TowpathError `invalid_input` for more than 200 ids
 */
export async function getUserProfiles(call: {
  ctx: Context;
  input: { readonly userIds: readonly string[] };
}): Promise<readonly UserProfileView[]> {
  const { ctx } = call;
  const callerId = requireUser(ctx);
  const { userIds } = parseInput(userIdsSchema, call.input);
  const reading = roles.filter((role) => roleMay(role, "member.read"));
  const own = ctx.db
    .select({ id: member.organizationId })
    .from(member)
    .where(and(eq(member.userId, callerId), inArray(member.role, reading)));
  const rows = await ctx.db
    .selectDistinct({ user })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(inArray(member.organizationId, own), inArray(member.userId, userIds)))
    .orderBy(asc(user.id));
  return rows.map((row) => viewOf(row.user));
}

function viewOf(person: typeof user.$inferSelect): UserProfileView {
  const { id, firstName, lastName, email, image } = person;
  return { id, firstName, lastName, displayName: displayNameOf(person), email, profilePictureUrl: image };
}
