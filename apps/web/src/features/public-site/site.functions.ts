import { createServerFn } from "@tanstack/react-start";
import { services } from "~/compose.server.ts";
import { publicAccess } from "~/http/access.ts";

/** What public pages must know of the instance. */
export const getSite = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .handler(() => ({ baseUrl: services().config.baseUrl }));
