/** A sentence in which `backticks` mark code; everything stays text. */
export function InlineCode({ text }: { text: string }) {
  return text.split(/`([^`\n]+)`/).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a constant text
      <code key={index} className="rounded-sm bg-hover/70 px-1 py-px break-words">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
