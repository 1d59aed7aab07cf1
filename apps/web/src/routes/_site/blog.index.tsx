import { createFileRoute } from "@tanstack/react-router";
import { getPosts } from "~/features/site/blog/blog.functions.ts";
import { BlogPage } from "~/features/site/blog/blog-page.tsx";
import { pageHead } from "~/features/site/public-site/page-head.ts";

/** PUB-7 */
export const Route = createFileRoute("/_site/blog/")({
  loader: () => getPosts(),
  head: ({ match }) => {
    const { meta, links } = pageHead(match.context.site, {
      path: "/blog",
      title: "Blog · Towpath",
      description: "On building and running MCP servers: design, reliability, security.",
    });
    const feed = { rel: "alternate", type: "application/rss+xml", title: "Towpath blog", href: "/rss.xml" };
    return { meta, links: [...links, feed] };
  },
  component: Blog,
});

function Blog() {
  return <BlogPage posts={Route.useLoaderData()} />;
}
