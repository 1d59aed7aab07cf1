import type { Context } from "@towpath/core/context";
import { parseInput } from "@towpath/core/input";
import { queryRequestLogs } from "@towpath/logs";
import { logQuerySchema } from "@towpath/logs/schema";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { operatorProject } from "./operator-project.server.ts";

/** The query string as VAL-5 has it; lists are repeated or separated by commas. */
const searchSchema = logQuerySchema.omit({ projectId: true }).extend({
  isError: z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .optional(),
  deploymentIds: z
    .string()
    .transform((value) => value.split(","))
    .pipe(z.array(z.uuid()).max(200))
    .optional(),
});

/** The newest request-log rows of a project. */
export async function projectLogs(ctx: Context, name: string, search: URLSearchParams) {
  const query = parseInput(searchSchema, Object.fromEntries(search));
  const project = await operatorProject(ctx, name);
  return queryRequestLogs(services().database.pool, { ...query, projectId: project.id });
}
