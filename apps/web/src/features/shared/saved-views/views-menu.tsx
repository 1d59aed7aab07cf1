import type { SavedView } from "@towpath/core/operations/saved-view";
import { type RefObject, useState } from "react";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import { ManageViewsDialog } from "./manage-views-dialog.tsx";
import { SaveViewDialog } from "./save-view-dialog.tsx";
import { useShownView, type ViewsOf } from "./use-view-changes.ts";
import { ViewItems } from "./view-items.tsx";

/** The name of the view that the list shows, on the button. */
export function ShownName(of: ViewsOf) {
  const { shown } = useShownView(of);
  return shown ? (
    <>
      <span className="sr-only">Views: </span>
      <span className="max-w-40 truncate">{shown.name}</span>
    </>
  ) : (
    "Views"
  );
}

type ViewsMenuProps = ViewsOf & {
  readonly anchor: RefObject<HTMLButtonElement | null>;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly onOpened: (view: SavedView | null) => void;
};

/** The menu of the button with its dialogs, and below the button what of the open view no longer applies. */
export function ViewsMenu({ anchor, isOpen, onOpenChange, onOpened, ...of }: ViewsMenuProps) {
  const { shown, dropped } = useShownView(of);
  const [dialog, setDialog] = useState<"save" | "manage" | null>(null);
  const close = () => setDialog(null);
  // As `Menu` loads it, so that both share it and no page has it before.
  const [menu] = useLazyModule(() => import("~/ui/menu-popup.tsx"), isOpen, onOpenChange);
  return (
    <>
      {menu ? (
        <menu.MenuPopup anchor={anchor} open={isOpen} align="end" className="w-64" onOpenChange={onOpenChange}>
          <ViewItems {...of} onOpened={onOpened} onDialog={setDialog} />
        </menu.MenuPopup>
      ) : null}
      {dropped.length > 0 ? (
        <p role="status" className="order-last basis-full text-xs text-warn">
          “{shown?.name}” opened without {dropped.join(", ")}, which no longer applies.
        </p>
      ) : null}
      {dialog === "save" ? <SaveViewDialog {...of} onClose={close} onSaved={onOpened} /> : null}
      {dialog === "manage" ? <ManageViewsDialog {...of} onClose={close} /> : null}
    </>
  );
}
