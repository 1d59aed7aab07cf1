type Heading = { readonly depth: number; readonly id: string; readonly text: string };

/** Links to the sections of a long text. Shorter texts need none. */
export function OnThisPage({ headings, atLeast }: { readonly headings: readonly Heading[]; readonly atLeast: number }) {
  const sections = headings.filter(({ depth }) => depth === 2);
  if (sections.length < atLeast) return null;
  return (
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
  );
}
