import MiniSearch from "minisearch";
import { documentPath } from "./document-path.ts";
import { documents } from "./documents.server.ts";

/** A place in the documentation. */
export type FoundSection = {
  readonly href: string;
  /** The page's title, with that of the section if any. */
  readonly title: string;
  readonly heading: string;
  /** Text around the first match, in pieces: `isMatch` marks matches. */
  readonly excerpt: readonly { readonly text: string; readonly isMatch: boolean }[];
};

const maxFound = 20;
const excerptLength = 180;

const sections = documents.flatMap(({ slug, title, sections }) =>
  sections.map(({ id, heading, text }, index) => {
    const href = id === "" ? documentPath(slug) : `${documentPath(slug)}#${id}`;
    // The title counts for the page's beginning only, or every section of a page would be found by it.
    return { id: href, href, title, heading, text, pageTitle: index === 0 ? title : "" };
  }),
);

const index = new MiniSearch<(typeof sections)[number]>({ fields: ["pageTitle", "heading", "text"] });
index.addAll(sections);
const sectionAt = new Map(sections.map((section) => [section.href, section]));

/** The sections that match all words best, including prefixes and small typos. */
export function searchSections(query: string): readonly FoundSection[] {
  const options = {
    combineWith: "AND",
    prefix: true,
    fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
    boost: { pageTitle: 4, heading: 3 },
  } as const;
  return index
    .search(query, options)
    .slice(0, maxFound)
    .flatMap(({ id, terms }) => {
      const section = sectionAt.get(String(id));
      if (!section) return [];
      const { href, title, heading, text } = section;
      return [{ href, title, heading, excerpt: excerptOf(text, terms) }];
    });
}

const escaped = (term: string) => term.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

function excerptOf(text: string, terms: readonly string[]): FoundSection["excerpt"] {
  const pattern = new RegExp(`(${terms.map(escaped).join("|")})`, "i");
  const at = text.search(pattern);
  const start = at <= 60 ? 0 : text.indexOf(" ", at - 60) + 1;
  const cut = text.slice(start, start + excerptLength);
  const shown = `${start > 0 ? "… " : ""}${cut}${start + excerptLength < text.length ? " …" : ""}`;
  return shown
    .split(new RegExp(pattern, "gi"))
    .map((piece, index) => ({ text: piece, isMatch: index % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}
