import { createFileRoute } from "@tanstack/react-router";
import { getRegistryEntry } from "@towpath/core/projects/registry";
import { services } from "~/compose.server.ts";
import { imageResponse } from "~/features/site/social-image/image-response.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** PUB-12. Private and unknown projects answer alike. */
export const Route = createFileRoute("/api/og/$projectName")({
  server: {
    handlers: {
      GET: withoutPermission("public", async ({ params }) => {
        const { database, config } = services();
        const { baseUrl, serverUrlTemplate } = config;
        const ctx = { db: database.db, serverUrlTemplate };
        const entry = await getRegistryEntry({ ctx, input: { projectName: params.projectName, baseUrl } });
        return imageResponse(
          entry && {
            title: entry.title,
            description: entry.description,
            color: entry.meta.themeColor,
            label: "MCP server",
            footer: entry.url.replace(/^https?:\/\//, ""),
          },
        );
      }),
    },
  },
});
