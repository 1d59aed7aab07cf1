import type { Database, Transaction } from "@towpath/db";
import { githubInstallation, member, organization, project, user } from "@towpath/db/schema";
import { asc, eq, inArray, like, or, sql } from "drizzle-orm";
import type { Permission } from "../../authorize/index.ts";
import type { Role } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import type { ProjectKind } from "../../projects/project/project.schema.ts";
import { iconHashOfProject } from "../../projects/server-icon/internal.ts";
import type { Preferences } from "../account/account.schema.ts";

export type OrganizationView = { readonly id: string; readonly slug: string; readonly name: string };

/** The specification's active organization (AUTH-12). */
export type ActiveOrganizationView = {
  readonly orgId: string;
  readonly orgSlug: string;
  readonly orgName: string;
  readonly externalId: string;
};

/**
 * What others know an organization by: the specification's `workosOrgId`. Organizations live here and nowhere else, so
 * it is their id (decision 031).
 */
export const externalIdOf = ({ id }: { readonly id: string }): string => id;

/** @throws TowpathError `invalid_input` for the external id of another organization */
export function requireExternalId(organization: { readonly id: string }, given: string): void {
  if (externalIdOf(organization) === given) return;
  const message = "This external id belongs to another organization.";
  throw new TowpathError("invalid_input", message, { fields: { externalId: message } });
}

export type OrganizationAccessView = OrganizationView & {
  readonly role: Role;
  readonly permissions: readonly Permission[];
};

/** The specification's Profile of the signed-in user. */
export type ProfileView = {
  readonly id: string;
  readonly email: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** First and last name joined, else the part of the email before `@` (AUTH-10). */
  readonly displayName: string;
  readonly profilePictureUrl: string | null;
  /** How they read times (ORG-4). */
  readonly preferences: Preferences;
  /** Whether they have hidden the list of first steps of new servers (SRC-4). */
  readonly hidesFirstSteps: boolean;
  readonly githubUserId: number | null;
  readonly organizations: readonly (OrganizationView & {
    readonly externalId: string;
    readonly pictureUrl: string | null;
    readonly role: Role;
  })[];
  readonly githubInstallations: readonly {
    readonly installationId: number;
    readonly organizationId: string;
    readonly accountLogin: string;
  }[];
  readonly projects: readonly {
    readonly id: string;
    readonly name: string;
    /** Path segment in the dashboard. */
    readonly pathName: string;
    readonly orgSlug: string;
    readonly kind: ProjectKind;
    /** The server's own icon, on this site; null: it has none. */
    readonly iconUrl: string | null;
  }[];
};

type Queryable = Database | Transaction;

export async function findUser(db: Queryable, userId: string) {
  const [row] = await db.select().from(user).where(eq(user.id, userId));
  return row;
}

export function listMemberships(db: Queryable, userId: string) {
  return db
    .select({
      id: organization.id,
      slug: organization.slug,
      name: organization.name,
      pictureUrl: organization.logo,
      role: member.role,
    })
    .from(member)
    .innerJoin(organization, eq(organization.id, member.organizationId))
    .where(eq(member.userId, userId))
    .orderBy(asc(member.createdAt), asc(organization.id));
}

export function listInstallationsOf(db: Queryable, organizationIds: readonly string[]) {
  return db
    .select({
      installationId: githubInstallation.installationId,
      organizationId: githubInstallation.organizationId,
      accountLogin: githubInstallation.accountLogin,
    })
    .from(githubInstallation)
    .where(inArray(githubInstallation.organizationId, [...organizationIds]))
    .orderBy(asc(githubInstallation.createdAt), asc(githubInstallation.installationId));
}

export function listProjectsOf(db: Queryable, organizationIds: readonly string[]) {
  return db
    .select({
      id: project.id,
      name: project.name,
      kind: project.kind,
      orgSlug: organization.slug,
      iconHash: iconHashOfProject,
    })
    .from(project)
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .where(inArray(project.organizationId, [...organizationIds]))
    .orderBy(asc(project.createdAt), asc(project.id));
}

/** Slugs that start with `stem`. */
export async function takenSlugs(db: Queryable, stem: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .select({ slug: organization.slug })
    .from(organization)
    .where(or(eq(organization.slug, stem), like(organization.slug, `${stem}-%`)));
  return new Set(rows.map((row) => row.slug));
}

/** Serializes transactions that choose a slug, so that two never choose the same. */
export async function lockSlugs(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtext('towpath_organization_slug'))`);
}

export async function findOrganizationBySlug(db: Queryable, slug: string) {
  const [row] = await db.select().from(organization).where(eq(organization.slug, slug));
  return row;
}

async function oldestOrganization(db: Queryable) {
  const [row] = await db
    .select()
    .from(organization)
    .orderBy(asc(organization.createdAt), asc(organization.id))
    .limit(1);
  return row;
}

export const localOrganizationSlug = "local";

/** The organization of this instance's operator: `local` if it exists, else the oldest one. */
export const instanceOrganization = async (db: Queryable) =>
  (await findOrganizationBySlug(db, localOrganizationSlug)) ?? (await oldestOrganization(db));

export async function oldestUser(db: Queryable) {
  const [row] = await db.select().from(user).orderBy(asc(user.createdAt), asc(user.id)).limit(1);
  return row;
}

export async function addOwner(
  db: Queryable,
  owner: { readonly organizationId: string; readonly userId: string; readonly createdAt: Date },
): Promise<void> {
  await db.insert(member).values({ id: newId(), role: "owner", ...owner });
}

export async function countMembers(db: Queryable, organizationId: string): Promise<number> {
  return db.$count(member, eq(member.organizationId, organizationId));
}
