import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { rssFeed } from "~/features/site/blog/rss.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { publicFile } from "~/http/public-file.server.ts";

/** PUB-9 */
export const Route = createFileRoute("/rss.xml")({
  server: {
    handlers: {
      GET: withoutPermission("public", () =>
        publicFile(rssFeed(services().config.baseUrl), "application/rss+xml; charset=utf-8"),
      ),
    },
  },
});
