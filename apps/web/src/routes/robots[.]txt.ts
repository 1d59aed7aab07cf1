import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { publicFile } from "~/http/public-file.server.ts";

/** Crawlers may read the public site; everything else is behind sign-in anyway (PUB-15, RFC 9309). */
const rules = `User-agent: *
Allow: /api/og
Disallow: /api/
Disallow: /_serverFn/
Disallow: /login
Disallow: /signup
Disallow: /oauth/
Disallow: /provider/
`;

export const Route = createFileRoute("/robots.txt")({
  server: {
    handlers: {
      GET: withoutPermission("public", () =>
        publicFile(`${rules}\nSitemap: ${services().config.baseUrl}/sitemap.xml\n`, "text/plain; charset=utf-8"),
      ),
    },
  },
});
