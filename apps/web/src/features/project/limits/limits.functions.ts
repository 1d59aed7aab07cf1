import { createServerFn } from "@tanstack/react-start";
import { getCallLimits, saveCallLimits } from "@towpath/core/calling/call-limit";
import { callLimitSchema } from "@towpath/core/calling/call-limit/schema";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryOf } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

/** Call limits of the server and the instance (GW-8). */
const getLimits = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getCallLimits({ ctx: context.ctx, input: data }));

/** Replaces the server's own limits (GW-8). */
export const saveLimits = createServerFn({ method: "POST" })
  .middleware([projectAccess("limit.manage")])
  .validator(input(callLimitSchema.extend(projectKeySchema.shape)))
  .handler(({ context, data }) => saveCallLimits({ ctx: context.ctx, input: data }));

export const limitsQuery = projectQueryOf(["limits"], getLimits, { staleTime: 0 });
