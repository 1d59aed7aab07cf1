import { PencilLine } from "lucide-react";
import { Neighbor } from "~/features/site/public-site/neighbor.tsx";
import { OnThisPage } from "~/features/site/public-site/on-this-page.tsx";
import { DocsLayout } from "./docs-layout.tsx";
import { documentPath } from "./document-path.ts";
import type { Document } from "./documents.server.ts";

/** Shorter pages need no table of contents. */
const sectionsForContents = 2;

type DocsPageProps = {
  readonly document: Omit<Document, "sections">;
  readonly editUrl: string | null;
};

/** A page of the documentation (OPS-7). `editUrl`: where the repository's files can be edited; null: nowhere. */
export function DocsPage({ document, editUrl }: DocsPageProps) {
  const { slug, title, description, content, headings, previous, next, file } = document;
  return (
    <DocsLayout slug={slug} aside={<OnThisPage headings={headings} atLeast={sectionsForContents} />}>
      <article>
        <header className="border-b pb-5">
          <h1 className="text-3xl font-semibold tracking-tight text-balance">{title}</h1>
          <p className="mt-2 text-lg text-pretty text-muted">{description}</p>
        </header>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: the build made it from our own Markdown file */}
        <div className="prose prose-docs pt-6" dangerouslySetInnerHTML={{ __html: content }} />
      </article>
      {editUrl === null ? null : (
        <a
          href={`${editUrl}/${file}`}
          className="mt-8 inline-flex items-center gap-1.5 rounded-sm text-sm text-muted hover:text-ink"
          rel="noreferrer"
          target="_blank"
        >
          <PencilLine className="size-4" /> Edit this page
        </a>
      )}
      <nav aria-label="More pages" className="mt-8 grid gap-3 border-t pt-6 sm:grid-cols-2">
        {previous ? <Neighbor href={documentPath(previous.slug)} title={previous.title} /> : <span />}
        {next ? <Neighbor href={documentPath(next.slug)} title={next.title} isNext /> : null}
      </nav>
    </DocsLayout>
  );
}
