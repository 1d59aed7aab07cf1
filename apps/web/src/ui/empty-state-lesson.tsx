import { Link } from "@tanstack/react-router";
import { isValidElement, type ReactNode } from "react";
import { CodeBlock } from "./code-block.tsx";
import { withWholeOptions } from "./whole-options.tsx";

/** Code to copy, with what it is for screen readers: "command". */
export type CodeExample = { readonly code: string; readonly label: string };

export type LessonProps = {
  /** A real one, with the reader's own server or names: code to copy, or what the list would show. */
  readonly example: CodeExample | ReactNode;
  readonly actions: ReactNode;
  /** The page of the documentation that says more: its slug and title. */
  readonly docs: readonly [slug: string, title: string] | undefined;
};

const isCode = (example: LessonProps["example"]): example is CodeExample =>
  typeof example === "object" && example !== null && !isValidElement(example) && "code" in example;

/** The lower part of an `EmptyState` that teaches. */
export default function Lesson({ example, actions, docs }: LessonProps) {
  return (
    <>
      {example ? (
        <div className="mt-3 w-full min-w-0 text-left text-sm">
          {isCode(example) ? (
            <CodeBlock {...example} wrap>
              {withWholeOptions(example.code)}
            </CodeBlock>
          ) : (
            example
          )}
        </div>
      ) : null}
      {actions && <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>}
      {docs && (
        <p className="mt-4 text-xs text-muted">
          Read more:{" "}
          <Link
            to="/docs/$slug"
            params={{ slug: docs[0] }}
            className="font-medium text-accent-text underline underline-offset-2"
          >
            {docs[1]}
          </Link>
        </p>
      )}
    </>
  );
}
