import { listRegistryNames } from "@towpath/core/projects/registry";
import type { Services } from "~/compose.server.ts";
import { posts } from "~/features/site/blog/posts.server.ts";
import { documents } from "~/features/site/docs/contents.ts";
import { documentPath } from "~/features/site/docs/document-path.ts";

/** A sitemap may have 50,000 addresses (sitemaps.org); the rest is for the site's own pages. */
const maxProjects = 49_000;

/** The addresses of all public pages: the site's own, posts and public projects. */
export async function siteMap({ config, database }: Services): Promise<string> {
  const { baseUrl, serverUrlTemplate } = config;
  const projects = await listRegistryNames({
    ctx: { db: database.db, serverUrlTemplate },
    input: { limit: maxProjects },
  });
  const pages = [
    { path: "/", at: null },
    { path: "/pricing", at: null },
    { path: "/blog", at: posts[0]?.meta.publishedAt ?? null },
    ...posts.map(({ slug, meta }) => ({ path: `/blog/${slug}`, at: meta.publishedAt })),
    ...documents.map(({ slug }) => ({ path: documentPath(slug), at: null })),
    ...projects.map(({ name, updatedAt }) => ({ path: `/app/${name}`, at: updatedAt })),
  ];
  // No path needs escaping: slugs and names consist of letters, digits and hyphens only.
  const entry = ({ path, at }: (typeof pages)[number]) =>
    `<url><loc>${baseUrl}${path}</loc>${at ? `<lastmod>${at}</lastmod>` : ""}</url>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${pages.map(entry).join("\n")}
</urlset>
`;
}
