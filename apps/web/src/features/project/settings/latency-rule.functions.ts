import { createServerFn } from "@tanstack/react-start";
import { getLatencyRule, saveLatencyRule } from "@towpath/core/operations/alert";
import { latencyRuleSchema } from "@towpath/core/operations/alert/schema";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryOf } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

/** When the server's calls are slow (CAP-6). */
const getRule = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getLatencyRule({ ctx: context.ctx, input: data }));

/** Sets that. */
export const saveRule = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(latencyRuleSchema.extend(projectKeySchema.shape)))
  .handler(({ context, data }) => saveLatencyRule({ ctx: context.ctx, input: data }));

export const latencyRuleQuery = projectQueryOf(["latency-rule"], getRule);
