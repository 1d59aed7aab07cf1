import type { Database, Transaction } from "@towpath/db";
import { savedView } from "@towpath/db/schema";
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { authorize, authorizeProject, type Permission, requireUser, roleMay } from "../../authorize/index.ts";
import type { Context, Role } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { type ViewList, viewLists } from "./saved-view.schema.ts";

/** A server, or without one the organization. */
export type ViewScope = { readonly orgSlug: string; readonly projectName?: string | undefined };

/** Whose lists: `projectId` is null for the organization's own. */
export type Place = {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly projectName: string | null;
  readonly userId: string;
  readonly role: Role;
};

export type ViewRow = typeof savedView.$inferSelect;

/** @throws TowpathError `forbidden` and `not_found` for others' organizations and servers; `forbidden` for API keys */
export async function placeOf(ctx: Context, { orgSlug, projectName }: ViewScope): Promise<Place> {
  const userId = requireUser(ctx);
  if (projectName === undefined) {
    const { organization, role } = await authorize(ctx, "organization.read", { orgSlug });
    return { organizationId: organization.id, projectId: null, projectName: null, userId, role };
  }
  const { organization, project, role } = await authorizeProject(ctx, "project.read", { orgSlug, projectName });
  return { organizationId: organization.id, projectId: project.id, projectName: project.name, userId, role };
}

type ListRule = { readonly of: "project" | "organization"; readonly read: Permission; readonly share: Permission };
const rules: Readonly<Record<ViewList, ListRule>> = viewLists;

const kindOf = ({ projectId }: Place) => (projectId === null ? "organization" : "project");

/** Whether the place has the list, and the role may open it. */
export const mayOpen = (place: Place, list: string): list is ViewList =>
  Object.hasOwn(rules, list) &&
  rules[list as ViewList].of === kindOf(place) &&
  roleMay(place.role, rules[list as ViewList].read);

/** @throws TowpathError `invalid_input` for a list that is elsewhere; `forbidden` for a role that can't open it */
export function requireList(place: Place, list: ViewList): void {
  if (rules[list].of !== kindOf(place))
    throw new TowpathError("invalid_input", `The list “${list}” belongs to the ${rules[list].of}.`);
  if (!mayOpen(place, list)) throw new TowpathError("forbidden", "Forbidden: your role can't open this list.");
}

/** @throws TowpathError `forbidden` */
export function requireSharing(place: Place, list: ViewList): void {
  if (roleMay(place.role, rules[list].share)) return;
  const settings = rules[list].of === "project" ? "the server's settings" : "the organization's settings";
  throw new TowpathError(
    "forbidden",
    `Forbidden: views shared with all members are changed by those who may change ${settings}. Save your own instead.`,
  );
}

/** Views of the place that the person sees: their own, and shared ones. */
export const inPlace = ({ organizationId, projectId }: Pick<Place, "organizationId" | "projectId">): SQL | undefined =>
  and(
    eq(savedView.organizationId, organizationId),
    projectId === null ? isNull(savedView.projectId) : eq(savedView.projectId, projectId),
  );

export const ofOwner = (userId: string | null): SQL =>
  userId === null ? isNull(savedView.userId) : eq(savedView.userId, userId);

/** One change of a place's views at a time, so that their number stays within the limit and names stay unique. */
export async function lockViews(tx: Transaction, { organizationId, projectId }: Place): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtext(${`towpath_views ${projectId ?? organizationId}`}))`);
}

/** @throws TowpathError `not_found`, also for others' views and those of lists that the role can't open */
export async function requireView(db: Database | Transaction, place: Place, id: string): Promise<ViewRow> {
  const [row] = isId(id)
    ? await db
        .select()
        .from(savedView)
        .where(and(inPlace(place), eq(savedView.id, id)))
    : [];
  if (!row || !mayOpen(place, row.list) || (row.userId !== null && row.userId !== place.userId))
    throw notFound("saved view");
  return row;
}
