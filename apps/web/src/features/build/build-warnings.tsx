import type { BuildWarning } from "@towpath/core/build/contract";
import { Callout } from "~/ui/callout.tsx";
import { InlineCode } from "~/ui/code-block.tsx";

/** A build's warnings, each with its cause and what to do; nothing when there are none. */
export function BuildWarnings({ warnings }: { warnings: readonly BuildWarning[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="flex flex-col gap-2">
      {warnings.map((warning) => (
        <li key={`${warning.code} ${warning.title}`}>
          <Callout
            tone="warn"
            title={
              <>
                Warning: <InlineCode text={warning.title} />
              </>
            }
          >
            <p className="whitespace-pre-line">
              <InlineCode text={warning.detail} />
            </p>
            <p className="mt-1">
              <span className="font-medium">What to do:</span> <InlineCode text={warning.remedy} />
            </p>
          </Callout>
        </li>
      ))}
    </ul>
  );
}

/** ", with 2 warnings", to append to a headline; empty without any. */
export function withWarnings(count: number): string {
  if (count === 0) return "";
  return count === 1 ? ", with a warning" : `, with ${count} warnings`;
}
