import { createFileRoute, notFound } from "@tanstack/react-router";
import { UnmatchedRoute } from "~/features/shared/error-screens/error-screens.tsx";
import { getPost } from "~/features/site/blog/blog.functions.ts";
import { PostPage } from "~/features/site/blog/post-page.tsx";
import { notFoundHead, pageHead } from "~/features/site/public-site/page-head.ts";

/** PUB-8 */
export const Route = createFileRoute("/_site/blog/$slug")({
  loader: async ({ params }) => {
    const post = await getPost({ data: params });
    if (!post) throw notFound();
    return post;
  },
  head: ({ match, loaderData: post }) => {
    if (!post) return notFoundHead;
    const { title, description, image, publishedAt, author, tags } = post.meta;
    const path = `/blog/${post.slug}`;
    const { meta, links } = pageHead(match.context.site, {
      path,
      image,
      description,
      type: "article",
      title: `${title} · Towpath`,
    });
    const article = [
      { property: "article:published_time", content: publishedAt },
      { name: "author", content: author.name },
      { name: "keywords", content: tags.join(", ") },
    ];
    return { meta: [...meta, ...article], links };
  },
  component: BlogPost,
  // Inside the layout; an ancestor's would replace it.
  notFoundComponent: UnmatchedRoute,
});

function BlogPost() {
  return <PostPage post={Route.useLoaderData()} />;
}
