import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { siteMap } from "~/features/site/site-map/site-map.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { publicFile } from "~/http/public-file.server.ts";

/** PUB-15 */
export const Route = createFileRoute("/sitemap.xml")({
  server: {
    handlers: {
      GET: withoutPermission("public", async () =>
        publicFile(await siteMap(services()), "application/xml; charset=utf-8"),
      ),
    },
  },
});
