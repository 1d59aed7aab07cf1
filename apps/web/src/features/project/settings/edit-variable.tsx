import { Button } from "~/ui/button.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import type { Edited } from "./edit-form.tsx";

const EditForm = lazyPart(async () => (await import("./edit-form.tsx")).EditForm, <Skeleton className="h-64 w-full" />);

/** Changes a variable (KEY-1, CAP-1); the stored value is not shown. */
export function EditVariable(edited: Edited) {
  const { keyName } = edited.variable;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only listens to the events of what it contains
    <span className="contents" onPointerEnter={EditForm.preload} onFocus={EditForm.preload}>
      <Dialog
        title={`Edit ${keyName}`}
        description="The live server keeps the old value until the next deployment."
        trigger={
          <Button size="sm" variant="ghost" aria-label={`Edit ${keyName}`} data-edit="">
            Edit
          </Button>
        }
      >
        {(close) => <EditForm {...edited} onClose={close} />}
      </Dialog>
    </span>
  );
}
