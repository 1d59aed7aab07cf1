import { authorize, permissionsOf, requireUser } from "../../authorize/index.ts";
import { type Call, roles } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { projectKindOf } from "../../projects/project/project.schema.ts";
import { projectPathName } from "../../projects/reserved-names/index.ts";
import { iconUrl } from "../../projects/server-icon/internal.ts";
import {
  externalIdOf,
  findUser,
  listInstallationsOf,
  listMemberships,
  listProjectsOf,
  type OrganizationAccessView,
  type ProfileView,
} from "./organization.store.ts";

/**
 * The signed-in user's profile by their id (AUTH-12), with organizations (oldest membership first), GitHub
 * installations and projects.
 *
 * @throws TowpathError `not_found` when the account is gone, and for somebody else's (AUTH-7)
 */
export async function getProfile({ ctx, input }: Call<{ readonly userId: string }>): Promise<ProfileView> {
  const isOwn = requireUser(ctx) === input.userId;
  const found = isOwn ? await findUser(ctx.db, input.userId) : undefined;
  if (!found) throw notFound("profile");
  const memberships = await listMemberships(ctx.db, found.id);
  const ids = memberships.map((organization) => organization.id);
  const [githubInstallations, projects] = await Promise.all([
    listInstallationsOf(ctx.db, ids),
    listProjectsOf(ctx.db, ids),
  ]);
  return {
    id: found.id,
    email: found.email,
    firstName: found.firstName,
    lastName: found.lastName,
    displayName: displayNameOf(found),
    profilePictureUrl: found.image,
    preferences: { timeZone: found.timeZone, hourCycle: found.hourCycle === "h12" ? "h12" : "h23" },
    hidesFirstSteps: found.hidesFirstSteps,
    githubUserId: found.githubUserId,
    organizations: memberships.flatMap(({ role, ...organization }) => {
      const known = roles.find((candidate) => candidate === role);
      return known ? [{ ...organization, externalId: externalIdOf(organization), role: known }] : [];
    }),
    githubInstallations,
    projects: projects.map(({ iconHash, ...project }) => ({
      ...project,
      iconUrl: iconUrl(iconHash),
      kind: projectKindOf(project),
      pathName: projectPathName(project),
    })),
  };
}

/** First and last name joined, else the part of the email before `@` (AUTH-10). */
export function displayNameOf(person: {
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly email: string;
}): string {
  const joined = [person.firstName, person.lastName].filter(Boolean).join(" ").trim();
  return joined === "" ? (person.email.split("@")[0] ?? person.email) : joined;
}

/**
 * An organization by its slug, with the actor's role and permissions (ORG-11).
 *
 * @throws TowpathError `forbidden` for non-members, whether it exists or not (ERR-1)
 */
export async function getOrganizationAccess(call: Call<{ readonly orgSlug: string }>): Promise<OrganizationAccessView> {
  const { organization, role } = await authorize(call.ctx, "organization.read", { orgSlug: call.input.orgSlug });
  return { ...organization, role, permissions: permissionsOf(role) };
}
