import type { MarkdownPage } from "~/ui/markdown-page.ts";
import type { PostMeta } from "./post.schema.ts";
import { type Post, publishedPosts } from "./publish-posts.ts";

/** This site's posts, newest first. */
export const posts: readonly Post[] = publishedPosts(
  import.meta.glob<MarkdownPage<PostMeta>>("./posts/*.md", { eager: true, import: "default" }),
);
