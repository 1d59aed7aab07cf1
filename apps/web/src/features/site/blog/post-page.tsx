import { Neighbor } from "~/features/site/public-site/neighbor.tsx";
import { OnThisPage } from "~/features/site/public-site/on-this-page.tsx";
import { Main } from "~/ui/main.tsx";
import { PostByline, PostTags } from "./post-meta.tsx";
import type { Post } from "./publish-posts.ts";

/** Shorter posts need no table of contents. */
const sectionsForContents = 4;

/** PUB-8 */
export function PostPage({ post }: { readonly post: Post }) {
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
        <OnThisPage headings={post.headings} atLeast={sectionsForContents} />
      </div>
    </Main>
  );
}

function Neighbors({ previous, next }: Pick<Post, "previous" | "next">) {
  return (
    <nav aria-label="More posts" className="mt-12 grid gap-3 border-t pt-6 sm:grid-cols-2">
      {previous ? <Neighbor href={`/blog/${previous.slug}`} title={previous.meta.title} /> : <span />}
      {next ? <Neighbor href={`/blog/${next.slug}`} title={next.meta.title} isNext /> : null}
    </nav>
  );
}
