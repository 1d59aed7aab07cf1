import { createServerFn } from "@tanstack/react-start";
import { searchServerRegistry } from "@towpath/core/sources/server-registry";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

/** Servers of the registry whose name contains a text (BLD-17). */
const searchRegistry = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.create")])
  .validator(input(z.object({ orgSlug: z.string(), search: z.string().max(200) })))
  .handler(({ context, data }) => searchServerRegistry({ ctx: context.ctx, input: data }));

export const registryQuery = (orgSlug: string, search: string) =>
  queryOf(
    ["server-registry", orgSlug, search],
    searchRegistry,
    { orgSlug, search },
    { staleTime: 60_000, retry: false },
  );
