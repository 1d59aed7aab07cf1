import { createServerFn } from "@tanstack/react-start";
import { deleteCallerValue, listCallerServers, setCallerValues } from "@towpath/core/projects/caller-value";
import { setCallerValuesSchema } from "@towpath/core/projects/caller-value/schema";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectAccess, selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";
import { checkCallerValues } from "./check-values.server.ts";

/** Servers that ask the signed-in user for values of their own, never with a value (CAP-1). */
const getCallerServers = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .handler(({ context }) => listCallerServers({ ctx: context.ctx, input: undefined }));

/** Sets values of the signed-in user (CAP-1). */
export const saveCallerValues = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend(setCallerValuesSchema.shape)))
  .handler(({ context, data }) => setCallerValues({ ctx: context.ctx, input: data }));

/** Deletes a value of the signed-in user (CAP-1). */
export const removeCallerValue = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ keyName: z.string().min(1).max(255) })))
  .handler(({ context, data }) => deleteCallerValue({ ctx: context.ctx, input: data }));

/** Calls the tool that the server's owner named with the signed-in user's values (CAP-1). */
export const checkSavedValues = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => checkCallerValues({ ctx: context.ctx, keys: services().signingKeys, input: data }));

export const callerServersQuery = queryOf(["caller-values"], getCallerServers, undefined, { staleTime: 0 });
