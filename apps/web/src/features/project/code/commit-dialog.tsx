import { Dialog } from "~/ui/dialog.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import type { CommitFormProps } from "./commit-form.tsx";

/** The form for a commit, which is loaded with it. */
export function CommitDialog({ open, ...form }: CommitFormProps & { readonly open: boolean }) {
  const [module] = useLazyModule(() => import("./commit-form.tsx"), open, form.onClose);
  return (
    <Dialog
      open={open && module !== null}
      onOpenChange={(next) => !next && form.onClose()}
      title="Commit your changes"
      description={`On top of ${form.view.branch} of ${form.view.name}, in your name.`}
      className="max-w-3xl max-h-[min(56rem,86dvh)]"
    >
      {module && <module.CommitForm {...form} />}
    </Dialog>
  );
}
