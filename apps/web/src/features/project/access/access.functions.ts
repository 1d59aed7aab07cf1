import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getAccess as getAccessVerb, saveAccess as saveAccessVerb } from "@towpath/core/calling/access";
import { accessSchema } from "@towpath/core/calling/access/schema";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

/** Who may call the server and which of its tools, with the keys and tools to choose from (GW-15). */
const getAccess = createServerFn({ method: "GET" })
  .middleware([projectAccess("access.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getAccessVerb({ ctx: context.ctx, input: data }));

/** Replaces it (GW-15). */
export const saveAccess = createServerFn({ method: "POST" })
  .middleware([projectAccess("access.manage")])
  .validator(input(accessSchema.safeExtend(projectKeySchema.shape)))
  .handler(({ context, data }) => saveAccessVerb({ ctx: context.ctx, input: data }));

export const accessQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "access"],
    queryFn: ({ signal }) => getAccess({ data: key, signal }),
    ...projectCache,
    // Keys and tools change elsewhere: always show the current ones.
    staleTime: 0,
  });
