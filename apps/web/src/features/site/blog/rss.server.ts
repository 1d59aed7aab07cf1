import { Feed } from "feed";
import { posts } from "./posts.server.ts";

/** RSS 2.0 with a link to itself; all addresses are absolute (PUB-9). `baseUrl`: origin of the site. */
export function rssFeed(baseUrl: string): string {
  const newest = posts[0];
  const feed = new Feed({
    id: `${baseUrl}/blog`,
    title: "Towpath blog",
    description: "On building and running MCP servers.",
    link: `${baseUrl}/blog`,
    language: "en",
    copyright: "",
    generator: false,
    ...(newest && { updated: new Date(newest.meta.publishedAt) }),
    feedLinks: { rss: `${baseUrl}/rss.xml` },
  });
  for (const { slug, meta } of posts) {
    const link = `${baseUrl}/blog/${slug}`;
    feed.addItem({
      id: link,
      link,
      title: meta.title,
      description: meta.description,
      date: new Date(meta.publishedAt),
      category: meta.tags.map((name) => ({ name })),
    });
  }
  return feed.rss2();
}
