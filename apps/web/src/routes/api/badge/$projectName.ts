import { createFileRoute } from "@tanstack/react-router";
import { getBadgeState } from "@towpath/core/projects/registry";
import { services } from "~/compose.server.ts";
import { badgeSvg } from "~/features/project/badge/badge-svg.ts";
import { withoutPermission } from "~/http/access.ts";
import { publicFile } from "~/http/public-file.server.ts";

/** How long caches may keep a badge, in seconds. */
const maxAgeSeconds = 60;

/** PRJ-15. Private and unknown projects answer alike, with 200: image proxies show no others. */
export const Route = createFileRoute("/api/badge/$projectName")({
  server: {
    handlers: {
      GET: withoutPermission("public", async ({ params }) => {
        const { projectName } = params;
        const server = await getBadgeState({ ctx: { db: services().database.db }, input: { projectName } });
        const response = publicFile(badgeSvg(server), "image/svg+xml", { maxAgeSeconds });
        // For READMEs on other sites; all other responses are for this origin only.
        response.headers.set("cross-origin-resource-policy", "cross-origin");
        return response;
      }),
    },
  },
});
