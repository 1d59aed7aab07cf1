import { lazy, Suspense } from "react";
import { CodeBlock } from "~/ui/code-block.tsx";
import { commandsOf, type Steps } from "./code-commands.ts";

// Only servers of repositories of this instance have it.
const StepsHere = lazy(() => import("./steps-here.tsx").then((file) => ({ default: file.StepsHere })));

/** How the running code is changed: clone, edit, push (BLD-7). */
export function CodeSteps(steps: Steps) {
  const { cloned, branch } = steps;
  return (
    <div className="min-w-0">
      <p className="mb-2 text-sm text-muted">
        Push to <code>{branch}</code> and the new version goes live.
        {cloned.hasPreviews ? " A push to any other branch gets a preview with its own URL." : ""}
      </p>
      {cloned.here ? (
        <Suspense fallback={<CodeBlock code={commandsOf(steps)} label="commands" />}>
          <StepsHere {...steps} here={cloned.here} />
        </Suspense>
      ) : (
        <CodeBlock code={commandsOf(steps)} label="commands" />
      )}
    </div>
  );
}
