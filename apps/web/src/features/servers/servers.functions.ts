import { createServerFn } from "@tanstack/react-start";
import { listProjects } from "@towpath/core/project";
import { projectListSchema } from "@towpath/core/project/schema";
import { z } from "zod";
import { input } from "~/http/input.ts";
import { organizationAccess } from "~/http/server-function.ts";

/** The organization's servers, filtered (ORG-2). */
export const getServers = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.read")])
  .validator(input(projectListSchema.extend({ orgSlug: z.string() })))
  .handler(({ context, data }) => listProjects({ ctx: context.ctx, input: data }));
