import type { Transaction } from "@towpath/db";
import { defaultView, savedView } from "@towpath/db/schema";
import { and, eq, ne, sql } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { saveViewSchema, type ViewList, viewListSchema, viewNameSchema } from "./saved-view.schema.ts";
import {
  inPlace,
  lockViews,
  ofOwner,
  type Place,
  placeOf,
  requireList,
  requireSharing,
  requireView,
  type ViewRow,
  type ViewScope,
} from "./saved-view.store.ts";

/** Of a list, for each person, and as many shared ones. */
const maxViews = 50;

type OneView = ViewScope & { readonly viewId: string };
type Named = { readonly list: string; readonly name: string; readonly userId: string | null };

/** The log has shared views only: a person's own are nobody else's business. */
const entry = (
  place: Place,
  action: string,
  { list, name }: Named,
  detail: Readonly<Record<string, unknown>> = {},
) => ({
  organizationId: place.organizationId,
  projectId: place.projectId,
  action,
  subject: place.projectName ?? place.organizationId,
  detail: { name, list, ...detail },
});

/**
 * Saves filters under a name, for the person alone or for all members. A view of the same name is replaced.
 *
 * @throws TowpathError `invalid_input` for a name or filters that can't be saved; `forbidden` for a role that can't
 * open the list, or share views of it; `conflict` beyond 50 views
 */
export async function saveView({
  ctx,
  input,
}: Call<ViewScope & z.input<typeof saveViewSchema>>): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const place = await placeOf(ctx, input);
  const { list, name, search, isShared } = parseInput(saveViewSchema, {
    list: input.list,
    name: input.name,
    search: input.search,
    isShared: input.isShared,
  });
  requireList(place, list);
  if (isShared) requireSharing(place, list);
  const { organizationId, projectId } = place;
  const userId = isShared ? null : place.userId;
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await lockViews(tx, place);
    const siblings = and(inPlace(place), ofOwner(userId), eq(savedView.list, list));
    const [same] = await tx
      .update(savedView)
      .set({ search, updatedAt: now })
      .where(and(siblings, eq(savedView.name, name)))
      .returning({ id: savedView.id });
    if (!same && (await tx.$count(savedView, siblings)) >= maxViews) {
      const whose = isShared ? "This list already has" : "You already have";
      throw new TowpathError(
        "conflict",
        `${whose} ${maxViews} views${isShared ? "" : " of this list"}. Delete one first.`,
      );
    }
    const id = same?.id ?? newId();
    if (!same) {
      const times = { createdAt: now, updatedAt: now };
      await tx.insert(savedView).values({ id, organizationId, projectId, list, userId, name, search, ...times });
    }
    if (isShared) await audit(tx, ctx, entry(place, same ? "view.update" : "view.share", { list, name, userId }));
    return { id, isNew: !same };
  });
}

/**
 * Gives a view another name.
 *
 * @throws TowpathError `not_found`; `conflict` for the name of another view; `forbidden` for a shared view and a role
 * that can't change it
 */
export async function renameView({ ctx, input }: Call<OneView & { readonly name: string }>): Promise<void> {
  const name = parseInput(viewNameSchema, input.name);
  await changeView(ctx, input, async (tx, place, view) => {
    const siblings = and(inPlace(place), ofOwner(view.userId), eq(savedView.list, view.list));
    if ((await tx.$count(savedView, and(siblings, eq(savedView.name, name), ne(savedView.id, view.id)))) > 0) {
      const message = `There is another view “${name}”. Choose a different name.`;
      throw new TowpathError("conflict", message, { fields: { name: message } });
    }
    await tx.update(savedView).set({ name, updatedAt: ctx.clock.now() }).where(eq(savedView.id, view.id));
    return entry(place, "view.rename", { ...view, name }, { from: view.name });
  });
}

/** Deletes a view. @throws TowpathError `not_found`; `forbidden` for a shared view and a role that can't change it */
export async function deleteView({ ctx, input }: Call<OneView>): Promise<void> {
  await changeView(ctx, input, async (tx, place, view) => {
    await tx.delete(savedView).where(eq(savedView.id, view.id));
    return entry(place, "view.delete", view);
  });
}

type Change = (tx: Transaction, place: Place, view: ViewRow) => Promise<ReturnType<typeof entry>>;

async function changeView(ctx: Context, input: OneView, change: Change): Promise<void> {
  const place = await placeOf(ctx, input);
  await ctx.db.transaction(async (tx) => {
    await lockViews(tx, place);
    const view = await requireView(tx, place, input.viewId);
    if (view.userId === null) requireSharing(place, view.list as ViewList);
    const written = await change(tx, place, view);
    if (view.userId === null) await audit(tx, ctx, written);
  });
}

/**
 * Sets the view with which a list opens for the person; `viewId: null`: none.
 *
 * @throws TowpathError `not_found` for a view that isn't one of this list
 */
export async function setDefaultView({
  ctx,
  input,
}: Call<ViewScope & { readonly list: ViewList; readonly viewId: string | null }>): Promise<void> {
  const place = await placeOf(ctx, input);
  const list = parseInput(viewListSchema, input.list);
  requireList(place, list);
  const { organizationId, projectId, userId } = place;
  await ctx.db.transaction(async (tx) => {
    await lockViews(tx, place);
    const ofProject = sql`${defaultView.projectId} IS NOT DISTINCT FROM ${projectId}`;
    const own = and(eq(defaultView.organizationId, organizationId), eq(defaultView.userId, userId), ofProject);
    await tx.delete(defaultView).where(and(own, eq(defaultView.list, list)));
    if (input.viewId === null) return;
    const view = await requireView(tx, place, input.viewId);
    if (view.list !== list) throw new TowpathError("invalid_input", "This view belongs to another list.");
    await tx.insert(defaultView).values({ id: newId(), viewId: view.id, organizationId, userId, projectId, list });
  });
}
