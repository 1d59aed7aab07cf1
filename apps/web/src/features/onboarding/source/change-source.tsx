import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import type { ChangeProps } from "./change-form.tsx";
import { SourceSection } from "./source-section.tsx";

const ChangeChoices = lazyPart(
  async () => (await import("./change-choices.tsx")).ChangeChoices,
  <Skeleton className="h-16 w-full" />,
);

/** Changes the server's source to any kind that the instance supports; everything else of the server stays (SRC-1). */
export function ChangeSource({ projectKey, source }: ChangeProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <SourceSection
      className="gap-4"
      title="Change source"
      description="Build this server from another repository, or from a package."
      actions={
        <Button
          aria-expanded={isOpen}
          onFocus={ChangeChoices.preload}
          onPointerEnter={ChangeChoices.preload}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Cancel" : "Change source"}
        </Button>
      }
    >
      {isOpen ? <ChangeChoices projectKey={projectKey} source={source} /> : null}
    </SourceSection>
  );
}
