import { createServerFn } from "@tanstack/react-start";
import { getProject } from "@towpath/core/project";
import { input } from "~/http/input.ts";
import { projectAccess } from "~/http/server-function.ts";
import { projectKeySchema } from "./project-key.schema.ts";

/** The project with its auth mode and newest deployments; also the access check of its screens (PRJ-1). */
export const getProjectWithAuth = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getProject({ ctx: context.ctx, input: data }));
