import { createServerFn } from "@tanstack/react-start";
import {
  checkProjectName as checkProjectNameVerb,
  deployProject,
  proposeServerName as proposeServerNameVerb,
} from "@towpath/core/projects/project";
import { deployProjectSchema, projectNameSchema, serverNameFrom } from "@towpath/core/projects/project/schema";
import {
  createOrganization as createOrganizationVerb,
  proposeOrganization as proposeOrganizationVerb,
} from "@towpath/core/tenancy/organization";
import { createOrganizationSchema } from "@towpath/core/tenancy/organization/schema";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { organizationAccess, selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { runQuickstart } from "./quickstart.server.ts";

/** Creates an organization and makes it the session's active one (ONB-1). */
export const createOrganization = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(createOrganizationSchema))
  .handler(async ({ context, data }) => {
    const organization = await createOrganizationVerb({ ctx: context.ctx, input: data });
    await services().auth.setActiveOrganization(context.signedIn.sessionId, organization.id);
    return organization;
  });

/** A name for the user's first organization, from their own, and the slug that is free for it (SRC-4). */
export const proposeOrganization = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .handler(({ context }) => proposeOrganizationVerb({ ctx: context.ctx }));

/**
 * An available random name, and the URL template of servers (ONB-3, ONB-11). For a repository (`like`) also its own name,
 * where that is available.
 */
export const proposeServerName = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.create")])
  .validator(input(z.object({ orgSlug: z.string(), like: z.string().max(200).optional() })))
  .handler(async ({ context, data }) => {
    const { ctx } = context;
    const like = serverNameFrom(data.like ?? "");
    const isFree = like !== null && (await checkProjectNameVerb({ ctx, input: { name: like } })).available;
    const { name } = await proposeServerNameVerb({ ctx });
    return { name, like: isFree ? like : null, urlTemplate: `${services().config.serverUrlTemplate}/mcp` };
  });

/** Whether a project name is available (VAL-1). */
export const checkProjectName = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(z.object({ orgSlug: z.string(), name: z.string().max(200) })))
  .handler(({ context, data }) => checkProjectNameVerb({ ctx: context.ctx, input: { name: data.name } }));

/** Runs the quickstart. Returns where to authorize, or the project with its first build (ONB-4). */
export const startQuickstart = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(z.object({ orgSlug: z.string(), serverName: projectNameSchema })))
  .handler(({ context, data }) => runQuickstart({ ...context, ...data }));

/** Creates the project of a repository and starts its first build (ONB-5). */
export const deployRepository = createServerFn({ method: "POST" })
  .middleware([organizationAccess("project.create")])
  .validator(input(deployProjectSchema.omit({ trigger: true }).extend({ orgSlug: z.string() })))
  .handler(async ({ context, data }) => {
    const { project, build } = await deployProject({ ctx: context.ctx, input: { ...data, trigger: "import" } });
    return { projectName: project.name, buildId: build?.id ?? null };
  });
