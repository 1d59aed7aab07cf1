import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import type { ContinueProps } from "./continue-on-github.types.ts";
import { SourceSection } from "./source-section.tsx";

const ContinueChoices = lazyPart(
  async () => (await import("./continue-choices.tsx")).ContinueChoices,
  <Skeleton className="h-16 w-full" />,
);

/** The way of a repository of this instance to a GitHub account, with its history and all servers (SRC-3). */
export function ContinueOnGitHub(props: ContinueProps) {
  const [isOpen, setOpen] = useState(props.back !== null);
  return (
    <SourceSection
      className="gap-4"
      title="Continue on GitHub"
      description="Move this repository, with its history, to a GitHub account."
      actions={
        <Button
          aria-expanded={isOpen}
          onFocus={ContinueChoices.preload}
          onPointerEnter={ContinueChoices.preload}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Cancel" : "Continue on GitHub"}
        </Button>
      }
    >
      {isOpen ? <ContinueChoices {...props} /> : null}
    </SourceSection>
  );
}
