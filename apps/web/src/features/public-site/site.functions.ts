import { createServerFn } from "@tanstack/react-start";
import { services } from "~/compose.server.ts";
import { publicAccess } from "~/http/access.ts";

/** What public pages need to know about the instance. */
export const getSite = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .handler(() => ({ baseUrl: services().config.baseUrl }));
