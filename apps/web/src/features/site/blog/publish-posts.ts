import type { MarkdownPage } from "~/ui/markdown-page.ts";
import type { PostMeta } from "./post.schema.ts";

export type PostSummary = { readonly slug: string; readonly meta: PostMeta; readonly minutes: number };
/** PUB-16. `content`: HTML. */
export type Post = PostSummary & {
  readonly content: string;
  readonly headings: MarkdownPage<PostMeta>["headings"];
  /** The posts before and after this one in time; null at the ends. */
  readonly previous: PostSummary | null;
  readonly next: PostSummary | null;
};

type Pages = Readonly<Record<string, MarkdownPage<PostMeta>>>;

/** The published posts among compiled Markdown files `…/{slug}.md`, newest first (PUB-7). */
export function publishedPosts(pages: Pages): readonly Post[] {
  const published = Object.entries(pages)
    .filter(([, { frontMatter }]) => frontMatter.draft !== true)
    .map(([path, page]) => ({ slug: path.replace(/^.*\/|\.md$/g, ""), page }))
    .toSorted((a, b) => b.page.frontMatter.publishedAt.localeCompare(a.page.frontMatter.publishedAt));
  const summaries = published.map(({ slug, page }) => ({ slug, meta: page.frontMatter, minutes: page.minutes }));
  return published.map(({ page: { html, headings } }, index) => ({
    ...(summaries[index] as PostSummary),
    content: html,
    headings,
    previous: summaries[index + 1] ?? null,
    next: summaries[index - 1] ?? null,
  }));
}
