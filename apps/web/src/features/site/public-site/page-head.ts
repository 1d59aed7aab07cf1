import type { Site } from "./site.functions.ts";

type Page = {
  /** Absolute path of the page. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** Path of the social image, 1200 × 630. Default: the site's. */
  readonly image?: string;
  readonly type?: "website" | "article";
};

/** Title, description, canonical link and tags for link previews (PUB-15). For a route's `head`. */
export function pageHead(site: Site, { path, title, description, image = "/api/og", type = "website" }: Page) {
  const url = `${site.baseUrl}${path}`;
  const imageUrl = `${site.baseUrl}${image}`;
  return {
    meta: [
      { title },
      { name: "description", content: description },
      { property: "og:site_name", content: "Towpath" },
      { property: "og:type", content: type },
      { property: "og:title", content: title },
      { property: "og:description", content: description },
      { property: "og:url", content: url },
      { property: "og:image", content: imageUrl },
      { property: "og:image:width", content: "1200" },
      { property: "og:image:height", content: "630" },
      { property: "og:image:alt", content: title },
      { name: "twitter:card", content: "summary_large_image" },
    ],
    links: [{ rel: "canonical", href: url }],
  };
}

/** PUB-8, PUB-11 */
export const notFoundHead = {
  meta: [
    { title: "404 - Not Found" },
    { name: "description", content: "The page you're looking for doesn't exist." },
    { name: "robots", content: "noindex" },
  ],
};
