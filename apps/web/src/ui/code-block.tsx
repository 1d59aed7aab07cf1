import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { CopyButton } from "./icon-button.tsx";

type CodeBlockProps = {
  /** The text to copy, and to show unless `children` renders it. */
  code: string;
  label: string;
  className?: string;
  wrap?: boolean;
  children?: ReactNode;
};

/** Preformatted text with a copy button. It scrolls, and is reachable by keyboard. */
export function CodeBlock({ code, label, className, wrap = false, children }: CodeBlockProps) {
  return (
    <div className={classNames("group/code relative min-w-0 rounded-md border bg-sunken", className)}>
      {/* biome-ignore lint/a11y/useSemanticElements: neither a fieldset nor a landmark */}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard (WCAG 2.1.1)
        tabIndex={0}
        role="group"
        aria-label={label}
        className={classNames(
          "scroll-thin max-h-[inherit] overflow-auto rounded-md p-3 pr-11 text-xs leading-5",
          wrap && "break-words whitespace-pre-wrap",
        )}
      >
        <code className="text-[length:inherit]">{children ?? code}</code>
      </pre>
      <CopyButton text={code} label={`Copy ${label}`} className="absolute top-1.5 right-1.5 bg-sunken" />
    </div>
  );
}

/** Text in which `backticks` mark code. Nothing else is interpreted. */
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
