import { createServerFn } from "@tanstack/react-start";
import { approveDeployment, rejectDeployment } from "@towpath/core/delivery/deployment";
import { changeRelease, getReleasePolicy, saveReleasePolicy } from "@towpath/core/delivery/gradual-release";
import { changePolicySchema, changeReleaseSchema } from "@towpath/core/delivery/gradual-release/schema";
import { z } from "zod";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryOf } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

/** Moves the release that runs on, to its end, or back (CAP-8). */
export const moveRelease = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.start")])
  .validator(input(changeReleaseSchema.extend(projectKeySchema.shape)))
  .handler(({ context, data }) => changeRelease({ ctx: context.ctx, input: data }));

const getPolicy = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getReleasePolicy({ ctx: context.ctx, input: data }));

/** Changes how deployments get into production (CAP-8). */
export const savePolicy = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(changePolicySchema.extend(projectKeySchema.shape)))
  .handler(({ context, data }) => saveReleasePolicy({ ctx: context.ctx, input: data }));

/** Approves or rejects a deployment to production that waits (CAP-8). */
export const decideApproval = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.start")])
  .validator(input(projectKeySchema.extend({ deploymentId: z.uuid(), isApproved: z.boolean() })))
  .handler(({ context: { ctx }, data: { deploymentId, isApproved } }) =>
    (isApproved ? approveDeployment : rejectDeployment)({ ctx, input: { deploymentId } }),
  );

export const policyQuery = projectQueryOf(["release-policy"], getPolicy, { staleTime: 0 });
