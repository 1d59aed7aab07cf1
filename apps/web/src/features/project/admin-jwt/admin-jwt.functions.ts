import { createServerFn } from "@tanstack/react-start";
import { clearAdminJwtCache, getAdminJwt, getAdminJwtCacheStats } from "@towpath/core/calling/admin-jwt";
import { services } from "~/compose.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

/** The project's admin JWT (PRJ-10), from the cache or newly signed. POST: it is a secret, and issuing is audited. */
export const issueAdminJwt = createServerFn({ method: "POST" })
  .middleware([projectAccess("adminJwt.manage")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => getAdminJwt({ ctx: context.ctx, input: data }));

/** Revokes the project's admin JWTs and empties its cache (PRJ-10). */
export const clearAdminJwts = createServerFn({ method: "POST" })
  .middleware([projectAccess("adminJwt.manage")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => clearAdminJwtCache({ ctx: context.ctx, input: data }));

/** Statistics of the cache, and the issuer of the tokens. */
const getAdminJwtStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("adminJwt.manage")])
  .validator(input(projectKeySchema))
  .handler(async ({ context, data }) => ({
    ...(await getAdminJwtCacheStats({ ctx: context.ctx, input: data })),
    issuer: services().config.baseUrl,
  }));

export const adminJwtStatsQuery = (key: ProjectKey) =>
  queryOf([...projectQueryKey(key), "admin-jwt-stats"], getAdminJwtStats, key);
