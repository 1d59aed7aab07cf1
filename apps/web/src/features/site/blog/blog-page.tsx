import { Rss } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";
import { Main } from "~/ui/main.tsx";
import { PostByline, PostTags } from "./post-meta.tsx";
import type { PostSummary } from "./publish-posts.ts";

/** PUB-7. Newest posts first. */
export function BlogPage({ posts }: { readonly posts: readonly PostSummary[] }) {
  return (
    <Main className="outline-none mx-auto w-full max-w-3xl px-4 py-14 sm:px-6 sm:py-20">
      <div className="flex flex-wrap items-end justify-between gap-4">
        <div>
          <h1 className="text-3xl font-semibold tracking-tight">Blog</h1>
          <p className="mt-2 text-lg text-pretty text-muted">On building and running MCP servers.</p>
        </div>
        <a href="/rss.xml" className={buttonLook()}>
          <Rss /> RSS feed
        </a>
      </div>
      <ol className="mt-8 divide-y border-t">
        {posts.map((post) => (
          <li key={post.slug} className="py-8">
            <article className="flex flex-col gap-3">
              <PostTags tags={post.meta.tags} />
              <h2 className="text-2xl font-semibold tracking-tight text-balance">
                <a href={`/blog/${post.slug}`} className="rounded-sm underline-offset-4 hover:underline">
                  {post.meta.title}
                </a>
              </h2>
              <p className="max-w-prose text-lg text-pretty text-muted">{post.meta.description}</p>
              <PostByline post={post} />
            </article>
          </li>
        ))}
      </ol>
    </Main>
  );
}
