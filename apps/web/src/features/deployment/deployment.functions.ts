import { createServerFn } from "@tanstack/react-start";
import { input } from "~/http/input.ts";
import { projectAccess } from "~/http/server-function.ts";
import { projectKeySchema } from "../project-screen/project-key.schema.ts";
import { branchItems } from "./branch-items.server.ts";

/** Branches with what is live on each (PRJ-2). */
export const getBranchesWithDeployments = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => branchItems(context.ctx, data));
