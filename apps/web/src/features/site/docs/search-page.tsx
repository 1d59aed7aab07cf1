import { SearchX } from "lucide-react";
import { EmptyState } from "~/ui/empty-state.tsx";
import { DocsLayout } from "./docs-layout.tsx";
import type { FoundSection } from "./search.server.ts";

/** Results of a search of the documentation. `query`: empty before a search. */
export function SearchPage({ query, found }: { readonly query: string; readonly found: readonly FoundSection[] }) {
  return (
    <DocsLayout slug={null} query={query}>
      <h1 className="text-3xl font-semibold tracking-tight wrap-anywhere">
        {query === "" ? "Search the documentation" : `Results for “${query}”`}
      </h1>
      {query !== "" && found.length === 0 ? (
        <EmptyState icon={<SearchX />} title="No results">
          Try fewer or different words, such as the start of an error message.
        </EmptyState>
      ) : (
        <ol className="mt-6 divide-y border-y empty:hidden">
          {found.map((section) => (
            <li key={section.href}>
              <Found {...section} />
            </li>
          ))}
        </ol>
      )}
    </DocsLayout>
  );
}

function Found({ href, title, heading, excerpt }: FoundSection) {
  // Pieces of a text, identified by their position.
  const pieces = excerpt.map((piece, index) => ({ ...piece, key: `${index} ${piece.text}` }));
  return (
    <a href={href} className="group block px-2 py-4 hover:bg-hover">
      <span className="text-xs text-muted">{title}</span>
      <span className="block font-medium text-accent-text group-hover:underline">{heading || title}</span>
      <span className="mt-1 block text-sm text-pretty text-muted">
        {pieces.map(({ text, isMatch, key }) =>
          isMatch ? (
            <mark key={key} className="rounded-sm bg-accent-soft text-ink">
              {text}
            </mark>
          ) : (
            text
          ),
        )}
      </span>
    </a>
  );
}
