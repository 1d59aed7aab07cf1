import { ChevronRight, Search } from "lucide-react";
import type { ReactNode } from "react";
import { Kbd } from "~/ui/kbd.tsx";
import { Main } from "~/ui/main.tsx";
import { contents } from "./contents.ts";
import { documentPath } from "./document-path.ts";

type DocsLayoutProps = {
  /** Of the open page; null on the page of a search. */
  readonly slug: string | null;
  readonly query?: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
};

/** The documentation's frame: search, all pages, and the open one. Works without scripts (decision 037). */
export function DocsLayout({ slug, query, aside, children }: DocsLayoutProps) {
  return (
    <div className="mx-auto grid w-full max-w-[1280px] gap-x-12 px-4 sm:px-6 md:grid-cols-[13rem_minmax(0,1fr)]">
      <div className="pt-6 md:sticky md:top-16 md:max-h-[calc(100dvh-4rem)] md:self-start md:overflow-y-auto md:py-10">
        <SearchForm query={query ?? ""} />
        <div className="mt-6 max-md:hidden">
          <Pages slug={slug} label="Documentation" />
        </div>
        <details className="group mt-3 rounded-md border md:hidden">
          <summary className="flex items-center gap-2 px-3 py-2 text-sm font-medium">
            <ChevronRight className="size-4 text-faint group-open:rotate-90" /> All pages
          </summary>
          <div className="border-t p-3">
            <Pages slug={slug} label="All pages" />
          </div>
        </details>
      </div>
      <Main className="outline-none grid min-w-0 gap-x-12 py-8 md:py-10 xl:grid-cols-[minmax(0,44rem)_13rem]">
        <div className="min-w-0">{children}</div>
        {aside}
      </Main>
    </div>
  );
}

function SearchForm({ query }: { readonly query: string }) {
  return (
    <search>
      <form action="/docs/search" className="relative">
        <Search className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-faint" />
        <input
          type="search"
          name="q"
          required
          maxLength={200}
          defaultValue={query}
          aria-label="Search the documentation"
          aria-keyshortcuts="/"
          placeholder="Search docs"
          data-page-search=""
          className="h-9 w-full rounded-md border border-line-strong bg-surface pr-8 pl-8.5 text-sm placeholder:text-faint"
        />
        <span className="pointer-events-none absolute top-2 right-2 max-md:hidden" aria-hidden>
          <Kbd>/</Kbd>
        </span>
      </form>
    </search>
  );
}

function Pages({ slug, label }: { readonly slug: string | null; readonly label: string }) {
  return (
    <nav aria-label={label} className="flex flex-col gap-5 pb-2">
      {contents.map(({ title, pages }) => (
        <div key={title}>
          <p className="px-2 text-xs font-medium text-faint">{title}</p>
          <ul className="mt-1">
            {pages.map((page) => (
              <li key={page.slug}>
                <a
                  href={documentPath(page.slug)}
                  aria-current={page.slug === slug ? "page" : undefined}
                  className="block rounded-md px-2 py-1 text-sm text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent-text"
                >
                  {page.title}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
