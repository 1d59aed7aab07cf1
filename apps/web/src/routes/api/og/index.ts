import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { imageResponse } from "~/features/site/social-image/image-response.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** The site's own social image. */
export const Route = createFileRoute("/api/og/")({
  server: {
    handlers: {
      GET: withoutPermission("public", () =>
        imageResponse({
          title: "The simplest path to production for MCP servers",
          description: "Push a repository. Get a live, logged and protected endpoint.",
          label: "",
          footer: new URL(services().config.baseUrl).host,
          color: "#0b6a70",
        }),
      ),
    },
  },
});
