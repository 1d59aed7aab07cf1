import type { PostSummary } from "./publish-posts.ts";

const day = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" });

/** Author, day and reading time of a post. */
export function PostByline({ post: { meta, minutes } }: { readonly post: PostSummary }) {
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-muted">
      <img src={meta.author.avatar} alt="" width={24} height={24} className="size-6 rounded-full" />
      <span className="font-medium text-ink">{meta.author.name}</span>
      <span aria-hidden>·</span>
      <time dateTime={meta.publishedAt}>{day.format(new Date(meta.publishedAt))}</time>
      <span aria-hidden>·</span>
      <span>{minutes} min read</span>
    </p>
  );
}

export function PostTags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <ul aria-label="Tags" className="flex flex-wrap gap-1.5">
      {tags.map((tag) => (
        <li key={tag} className="rounded-full bg-accent-soft px-2 py-px text-xs text-accent-text">
          {tag}
        </li>
      ))}
    </ul>
  );
}
