import { useBlocker } from "@tanstack/react-router";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

/**
 * Asks before the person leaves a page with unsaved changes, by a link or by closing the tab. Put it into the form:
 * `<UnsavedChanges when={isChanged} what="build settings" />`. A changed search or hash of the same page doesn't ask.
 * `onDiscard`: called before they leave.
 */
export function UnsavedChanges({ when, what, onDiscard }: { when: boolean; what: string; onDiscard?: () => void }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => when && current.pathname !== next.pathname,
    enableBeforeUnload: () => when,
    withResolver: true,
  });
  const isAsking = blocker.status === "blocked";
  return (
    <Dialog
      open={isAsking}
      onOpenChange={(open) => !open && blocker.reset?.()}
      title="Leave without saving?"
      description={`Your changes to the ${what} are not saved yet.`}
      footer={
        <>
          <Button
            variant="danger-quiet"
            onClick={() => {
              onDiscard?.();
              blocker.proceed?.();
            }}
          >
            Discard changes
          </Button>
          <Button variant="primary" onClick={() => blocker.reset?.()}>
            Keep editing
          </Button>
        </>
      }
    />
  );
}
