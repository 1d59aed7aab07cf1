import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import {
  deleteView as deleteViewVerb,
  listSavedViews,
  renameView as renameViewVerb,
  saveView as saveViewVerb,
  setDefaultView as setDefaultViewVerb,
} from "@towpath/core/operations/saved-view";
import {
  saveViewSchema,
  type ViewList,
  viewListSchema,
  viewNameSchema,
} from "@towpath/core/operations/saved-view/schema";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { exactInput } from "~/http/input.ts";
import type { ViewPlace } from "./view-lists.ts";

// One set of functions for the lists of servers and of organizations; the verbs check the permission of each list.

const placeSchema = z.object({
  orgSlug: z.string().min(1).max(100),
  projectName: z.string().min(1).max(100).optional(),
});
const oneSchema = placeSchema.extend({ viewId: z.string().max(64) });

/** The person's views of a list, or of all lists there (CAP-7). */
const getViews = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.read")])
  .validator(exactInput(placeSchema.extend({ list: viewListSchema.optional() })))
  .handler(({ context, data }) => listSavedViews({ ctx: context.ctx, input: data }));

/** Saves filters under a name; a view of that name is replaced (CAP-7). */
export const saveView = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(exactInput(placeSchema.extend(saveViewSchema.shape)))
  .handler(({ context, data }) => saveViewVerb({ ctx: context.ctx, input: data }));

export const renameView = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(exactInput(oneSchema.extend({ name: viewNameSchema })))
  .handler(({ context, data }) => renameViewVerb({ ctx: context.ctx, input: data }));

export const deleteView = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(exactInput(oneSchema))
  .handler(({ context, data }) => deleteViewVerb({ ctx: context.ctx, input: data }));

/** Sets with which view a list opens for the person; null: with none (CAP-7). */
export const setDefaultView = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(exactInput(placeSchema.extend({ list: viewListSchema, viewId: z.string().max(64).nullable() })))
  .handler(({ context, data }) => setDefaultViewVerb({ ctx: context.ctx, input: data }));

/** Without `list`: of all lists there, for the command palette. */
export const viewsQuery = ({ orgSlug, projectName }: ViewPlace, list?: ViewList) =>
  queryOptions({
    queryKey: ["saved-views", orgSlug, projectName ?? null, list ?? null],
    queryFn: ({ signal }) => getViews({ data: { orgSlug, projectName, list }, signal }),
    staleTime: 2000,
  });
