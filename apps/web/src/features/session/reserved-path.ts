import { createIsomorphicFn } from "@tanstack/react-start";
import { hasOrganization } from "@towpath/core/organization";
import { isReservedSlug } from "@towpath/core/reserved-names";
import { services } from "~/compose.server.ts";

/**
 * Whether a first path segment can't be an organization's slug, as `robots.txt` and `blog`. Only the server knows the
 * list; nothing in the app links to such a path.
 */
export const isReservedPath = createIsomorphicFn()
  .server((segment: string) => isReservedSlug(segment) || !/^[a-z0-9-]+$/.test(segment))
  .client(() => false);

/** Whether no organization has this slug. Only asked of the server, for documents that visitors request. */
export const isNobodysSlug = createIsomorphicFn()
  .server(async (slug: string) => !(await hasOrganization(services().database.db, slug)))
  .client(async () => false);
