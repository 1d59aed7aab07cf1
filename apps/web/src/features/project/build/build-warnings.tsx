import type { BuildWarning } from "@towpath/core/delivery/build/contract";
import type { ReactNode } from "react";
import { Callout } from "~/ui/callout.tsx";
import { InlineCode } from "~/ui/code-block.tsx";

type BuildWarningsProps = {
  warnings: readonly BuildWarning[];
  /** A button that ends a warning. */
  actionOf?: (warning: BuildWarning) => ReactNode;
};

/** A build's warnings, each with its cause and what to do. */
export function BuildWarnings({ warnings, actionOf }: BuildWarningsProps) {
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
            actions={actionOf?.(warning)}
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
