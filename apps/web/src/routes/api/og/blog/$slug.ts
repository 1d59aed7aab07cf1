import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { posts } from "~/features/site/blog/posts.server.ts";
import { imageResponse } from "~/features/site/social-image/image-response.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** The social image of a post. */
export const Route = createFileRoute("/api/og/blog/$slug")({
  server: {
    handlers: {
      GET: withoutPermission("public", ({ params }) => {
        const post = posts.find(({ slug }) => slug === params.slug);
        const { host } = new URL(services().config.baseUrl);
        return imageResponse(
          post
            ? {
                title: post.meta.title,
                description: post.meta.description,
                color: "#0b6a70",
                label: "Blog",
                footer: `${host}/blog`,
              }
            : null,
        );
      }),
    },
  },
});
