import { ArrowLeft, ArrowRight } from "lucide-react";
import { Main } from "~/ui/main.tsx";
import { PostByline, PostTags } from "./post-meta.tsx";
import type { Post, PostSummary } from "./publish-posts.ts";

/** Shorter posts need no table of contents. */
const sectionsForContents = 4;

/** PUB-8 */
export function PostPage({ post }: { readonly post: Post }) {
  const sections = post.headings.filter(({ depth }) => depth === 2);
  return (
    <Main className="outline-none mx-auto w-full max-w-[68rem] px-4 py-10 sm:px-6 sm:py-16">
      <div className="grid gap-x-14 lg:grid-cols-[minmax(0,44rem)_13rem]">
        <article className="min-w-0">
          <header className="flex flex-col gap-4 border-b pb-7">
            <PostTags tags={post.meta.tags} />
            <h1 className="text-[clamp(1.875rem,1.5rem+1.8vw,2.75rem)] leading-[1.1] font-semibold tracking-[-0.025em] text-balance">
              {post.meta.title}
            </h1>
            <p className="text-xl/relaxed text-pretty text-muted">{post.meta.description}</p>
            <PostByline post={post} />
          </header>
          {/* biome-ignore lint/security/noDangerouslySetInnerHtml: the build made it from our own Markdown file */}
          <div className="prose pt-7" dangerouslySetInnerHTML={{ __html: post.content }} />
          <Neighbors previous={post.previous} next={post.next} />
        </article>
        {sections.length >= sectionsForContents ? (
          <nav aria-label="On this page" className="max-lg:hidden">
            <div className="sticky top-24 border-l pl-4">
              <p className="text-xs font-medium text-faint">On this page</p>
              <ol className="mt-2 flex flex-col gap-1.5 text-sm">
                {sections.map(({ id, text }) => (
                  <li key={id}>
                    <a href={`#${id}`} className="rounded-sm text-muted hover:text-ink">
                      {text}
                    </a>
                  </li>
                ))}
              </ol>
            </div>
          </nav>
        ) : null}
      </div>
    </Main>
  );
}

function Neighbors({ previous, next }: Pick<Post, "previous" | "next">) {
  return (
    <nav aria-label="More posts" className="mt-12 grid gap-3 border-t pt-6 sm:grid-cols-2">
      {previous ? <Neighbor post={previous} label="Previous" /> : <span />}
      {next ? <Neighbor post={next} label="Next" isNext /> : null}
    </nav>
  );
}

function Neighbor({ post, label, isNext = false }: { post: PostSummary; label: string; isNext?: boolean }) {
  return (
    <a
      href={`/blog/${post.slug}`}
      rel={isNext ? "next" : "prev"}
      className={`flex flex-col gap-1 rounded-lg border bg-surface p-4 hover:bg-hover ${isNext ? "sm:items-end sm:text-right" : ""}`}
    >
      <span className="flex items-center gap-1 text-xs text-muted">
        {isNext ? null : <ArrowLeft className="size-3.5" aria-hidden />}
        {label}
        {isNext ? <ArrowRight className="size-3.5" aria-hidden /> : null}
      </span>
      <span className="font-medium text-balance">{post.meta.title}</span>
    </a>
  );
}
