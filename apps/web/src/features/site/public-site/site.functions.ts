import { createServerFn } from "@tanstack/react-start";
import { services } from "~/compose.server.ts";
import { publicAccess } from "~/http/access.ts";
import { queryOf } from "~/http/query-of.ts";

export type Site = {
  /** Origin of the site, without a slash at the end. */
  readonly baseUrl: string;
  /** Where the star count and Docs lead. */
  readonly starUrl: string;
  readonly docsUrl: string;
  /** Where the documentation's files can be edited; null: nowhere. */
  readonly editUrl: string | null;
};

/** Data of the instance for public pages. */
const getSite = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .handler((): Site => {
    const { baseUrl, starUrl, docsUrl, docsEditUrl: editUrl } = services().config;
    return { baseUrl, starUrl, docsUrl, editUrl };
  });

/** Never changes while the page is open. */
export const siteQuery = queryOf(["site"], getSite, undefined, { staleTime: Number.POSITIVE_INFINITY });
