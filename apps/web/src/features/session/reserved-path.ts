import { createIsomorphicFn } from "@tanstack/react-start";
import { isReservedSlug } from "@towpath/core/reserved-names";

/**
 * Whether a first path segment can't be an organization's slug, as `robots.txt` and `blog`. Only the server knows the
 * list; nothing in the app links to such a path.
 */
export const isReservedPath = createIsomorphicFn()
  .server((segment: string) => isReservedSlug(segment) || !/^[a-z0-9-]+$/.test(segment))
  .client(() => false);
