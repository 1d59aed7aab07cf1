import type { PostSummary } from "~/features/blog/publish-posts.ts";

/** The newest posts of the blog. */
export function LatestPosts({ posts }: { readonly posts: readonly PostSummary[] }) {
  return (
    <section aria-labelledby="posts" className="border-t bg-surface">
      <div className="mx-auto max-w-[1280px] px-4 py-16 sm:px-6">
        <div className="flex flex-wrap items-baseline justify-between gap-3">
          <h2 id="posts" className="text-2xl font-semibold tracking-tight">
            From the blog
          </h2>
          <a href="/blog" className="rounded-sm text-sm text-accent-text underline-offset-3 hover:underline">
            All posts
          </a>
        </div>
        <ul className="mt-6 grid gap-4 md:grid-cols-3">
          {posts.map(({ slug, meta, minutes }) => (
            <li key={slug} className="relative flex flex-col gap-2 rounded-lg border bg-canvas p-5 hover:bg-hover">
              <h3 className="text-lg font-semibold tracking-tight text-balance">
                <a href={`/blog/${slug}`} className="rounded-sm after:absolute after:inset-0 after:rounded-lg">
                  {meta.title}
                </a>
              </h3>
              <p className="flex-1 text-sm text-pretty text-muted">{meta.description}</p>
              <p className="text-xs text-faint">{minutes} min read</p>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
