import { cloneElement, type ReactElement, useEffect, useState } from "react";
import type { DialogContent } from "./dialog-popup.tsx";
import { useLazyModule } from "./use-lazy-module.ts";

type TriggerProps = {
  "aria-haspopup": "dialog";
  "aria-expanded": boolean;
  onPointerEnter: () => void;
  onFocus: () => void;
  onClick: () => void;
};

/**
 * A modal dialog, opened by `trigger` or controlled by `open`. Its code is loaded when it opens, or with the first
 * pointer or key that reaches the trigger.
 */
export function Dialog({
  open: controlled,
  onOpenChange,
  trigger,
  ...content
}: DialogContent & {
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** A button that passes its props on. */
  trigger?: ReactElement<Partial<TriggerProps>>;
}) {
  const [own, setOwn] = useState(false);
  const [popup, load] = useLazyModule(() => import("./dialog-popup.tsx"));
  const open = controlled ?? own;
  useEffect(() => {
    if (open) load();
  }, [open, load]);
  const change = (next: boolean) => {
    if (controlled === undefined) setOwn(next);
    onOpenChange?.(next);
  };
  return (
    <>
      {trigger &&
        cloneElement(trigger, {
          "aria-haspopup": "dialog",
          "aria-expanded": open,
          onPointerEnter: load,
          onFocus: load,
          onClick: () => change(true),
        })}
      {popup && <popup.DialogPopup {...content} open={open} onOpenChange={change} />}
    </>
  );
}
