import { cloneElement, type ReactElement, useState } from "react";
import type { DialogContent } from "./dialog-popup.tsx";
import { useLazyModule } from "./use-lazy-module.ts";

type TriggerProps = {
  "aria-haspopup": "dialog";
  "aria-expanded": boolean;
  onPointerEnter: () => void;
  onFocus: () => void;
  onClick: () => void;
};

type DialogProps = DialogContent & {
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** A button that passes its props on. */
  trigger?: ReactElement<Partial<TriggerProps>>;
};

/**
 * A modal dialog, opened by `trigger` or controlled by `open`. Its code is loaded when it opens, or with the first
 * pointer or key that reaches the trigger.
 */
export function Dialog({ open: controlled, onOpenChange, trigger, ...content }: DialogProps) {
  const [own, setOwn] = useState(false);
  const open = controlled ?? own;
  const change = (next: boolean) => {
    if (controlled === undefined) setOwn(next);
    onOpenChange?.(next);
  };
  const [popup, preload] = useLazyModule(() => import("./dialog-popup.tsx"), open, change);
  return (
    <>
      {trigger &&
        cloneElement(trigger, {
          "aria-haspopup": "dialog",
          "aria-expanded": open,
          onPointerEnter: preload,
          onFocus: preload,
          onClick: () => change(true),
        })}
      {popup && <popup.DialogPopup {...content} open={open} onOpenChange={change} />}
    </>
  );
}
