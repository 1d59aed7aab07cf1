import { createServerFn } from "@tanstack/react-start";
import { services } from "~/compose.server.ts";
import { anonymous } from "~/http/server-function.ts";

/** What public pages must know of the instance. */
export const getSite = createServerFn({ method: "GET" })
  .middleware([anonymous])
  .handler(() => ({ baseUrl: services().config.baseUrl }));
