import type { MarkdownPage } from "~/ui/markdown-page.ts";
import { type DocumentSummary, documents as summaries } from "./contents.ts";

type Compiled = MarkdownPage<unknown>;

/** A page of the documentation as the build made it. `content`: HTML. */
export type Document = DocumentSummary &
  Pick<Compiled, "headings" | "sections"> & {
    readonly content: string;
    readonly previous: DocumentSummary | null;
    readonly next: DocumentSummary | null;
  };

const compiled = new Map(
  Object.entries(
    import.meta.glob<Compiled>(
      [
        "./pages/*.md",
        "../../../../../../docs/{sign-in,roles,identity,observability,rest,configuration,https,containers,kubernetes,operating,retention,pull-request-check,what-counts-as-different}.md",
      ],
      { eager: true, import: "default" },
    ),
  ).map(([path, page]) => [
    path.replace(/^(?:\.\.\/)+/, "").replace(/^\.\//, "apps/web/src/features/site/docs/"),
    page,
  ]),
);

/** Every page, in reading order. */
export const documents: readonly Document[] = summaries.map((summary, index) => {
  const page = compiled.get(summary.file);
  if (!page) throw new Error(`The documentation lacks ${summary.file}.`);
  const { html: content, headings, sections } = page;
  const [previous, next] = [summaries[index - 1] ?? null, summaries[index + 1] ?? null];
  return { ...summary, content, headings, sections, previous, next };
});
