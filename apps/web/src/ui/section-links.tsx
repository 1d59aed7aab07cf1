/** Links to the sections of a long page, beside it if there is room, else above it. */
export function SectionLinks({ sections }: { readonly sections: readonly (readonly [id: string, title: string])[] }) {
  return (
    <nav
      aria-label="On this page"
      className="scroll-thin scroll-hint top-[calc(4rem+1px+1.5rem)] flex gap-x-4 overflow-x-auto text-sm xl:sticky xl:w-48 xl:shrink-0 xl:flex-col xl:self-start xl:border-l xl:pl-4"
    >
      {sections.map(([id, title]) => (
        <a
          key={id}
          href={`#${id}`}
          className="flex min-h-7 shrink-0 items-center whitespace-nowrap text-muted underline-offset-3 hover:text-ink hover:underline"
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
