import { createServerFn } from "@tanstack/react-start";
import {
  checkExternalServer,
  createExternalServer,
  type ExternalServerView,
  getExternalServer,
  reachExternalServer,
  updateExternalServer,
} from "@towpath/core/projects/external-server";
import {
  createExternalServerSchema,
  externalUrlSchema,
  updateExternalServerSchema,
} from "@towpath/core/projects/external-server/schema";
import { z } from "zod";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryOf } from "~/features/shared/project-screen/project-screen.functions.ts";
import { organizationAccess, projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

const orgSlug = z.string().min(1).max(100);

/** Whether anything answers at an address: the first step of adding a server (ORG-9). */
export const reachServer = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(z.object({ orgSlug, url: externalUrlSchema })))
  .handler(({ context, data }) => reachExternalServer({ ctx: context.ctx, input: data }));

/** Inspects a server that runs elsewhere and adds it (ORG-9). */
export const addExternalServer = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(createExternalServerSchema.extend({ orgSlug })))
  .handler(({ context, data }) => createExternalServer({ ctx: context.ctx, input: data }));

/** Its address and manifest. */
const getExternal = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getExternalServer({ ctx: context.ctx, input: data }));

/** Changes its address or credential; absent fields stay. */
export const saveExternalServer = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("secret.manage")])
  .validator(input(projectKeySchema.extend(updateExternalServerSchema.shape)))
  .handler(async ({ context, data }) => {
    await updateExternalServer({ ctx: context.ctx, input: data });
  });

/** Inspects it now. */
export const checkExternal = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema))
  .handler(async ({ context, data }) => {
    const { problem } = await checkExternalServer({ ctx: context.ctx, input: data });
    return { problem };
  });

/** An external server with its manifest, refetched every 30 s (PRJ-7). */
export const externalServerQuery = projectQueryOf<ExternalServerView>(["external-server"], getExternal, {
  refetchInterval: 30_000,
});
