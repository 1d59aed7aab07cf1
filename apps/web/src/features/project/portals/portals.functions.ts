import { createServerFn } from "@tanstack/react-start";
import { getManifest } from "@towpath/core/delivery/deployment";
import { createPortal, getPortal, listPortals, updatePortal } from "@towpath/core/projects/portal";
import { createPortalSchema, updatePortalSchema } from "@towpath/core/projects/portal/schema";
import { z } from "zod";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryOf } from "~/features/shared/project-screen/project-screen.functions.ts";
import { organizationAccess, projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

const orgSlug = z.string().min(1).max(100);

/** The organization's portals (ORG-3). */
const getPortals = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.read")])
  .validator(input(z.object({ orgSlug })))
  .handler(({ context, data }) => listPortals({ ctx: context.ctx, input: data }));

/** Creates a portal of chosen servers (ORG-3). */
export const addPortal = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(createPortalSchema.extend({ orgSlug })))
  .handler(({ context, data }) => createPortal({ ctx: context.ctx, input: data }));

/** A portal's items and servers. */
const getPortalContents = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getPortal({ ctx: context.ctx, input: data }));

/** Changes a portal's servers, items or instructions; absent fields stay. */
export const savePortal = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(projectKeySchema.extend(updatePortalSchema.shape)))
  .handler(({ context, data }) => updatePortal({ ctx: context.ctx, input: data }));

/** The items of a server's live version, also of external servers and portals. */
export const getOffers = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getManifest({ ctx: context.ctx, input: data }));

export const portalsQuery = (slug: string) =>
  queryOf(["portals", slug], getPortals, { orgSlug: slug }, { staleTime: 2000 });

export const portalQuery = projectQueryOf(["portal"], getPortalContents);

/** A server's current items, to choose from. */
export const choicesQuery = projectQueryOf(["choices"], getOffers);
