/** A Markdown file as the build makes it (`vite/markdown.ts`). `FrontMatter` has passed the schema of its directory. */
export type MarkdownPage<FrontMatter> = {
  readonly frontMatter: FrontMatter;
  /** Safe to insert: the build made it from our own file. */
  readonly html: string;
  /** Sections (2) and their subsections (3), with the ids that link to them. */
  readonly headings: readonly { readonly depth: number; readonly id: string; readonly text: string }[];
  /** The plain text of each section, for searches; the first one, without a heading, is the text before them. */
  readonly sections: readonly { readonly id: string; readonly heading: string; readonly text: string }[];
  /** Reading time. */
  readonly minutes: number;
};
