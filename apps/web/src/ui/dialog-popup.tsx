import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { classNames } from "./class-names.ts";
import { IconButton } from "./icon-button.tsx";

/** Gets the focus once a dialog is closed; true: the element that had it before. */
export type FinalFocus = () => HTMLElement | true;

export type DialogContent = {
  title: ReactNode;
  description?: ReactNode;
  /** A function gets what closes the dialog. */
  children?: ReactNode | ((close: () => void) => ReactNode);
  /** For its buttons. */
  footer?: ReactNode;
  finalFocus?: FinalFocus;
  className?: string;
};

type DialogProps = DialogContent & { open: boolean; onOpenChange: (open: boolean) => void };

/** The popup of a `Dialog`. While it fades out, it keeps its content, which its owner may have removed. */
export function DialogPopup(props: DialogProps) {
  const [shown, setShown] = useState(props);
  if (props.open && shown !== props) setShown(props);
  const { open, onOpenChange } = props;
  const { title, description, children, footer, finalFocus, className } = open ? props : shown;
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop fixed inset-0 z-40 bg-shade transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Dialog.Popup
          finalFocus={finalFocus}
          className={classNames(
            "popup-motion fixed inset-x-3 top-[max(1rem,12dvh)] z-50 mx-auto flex max-h-[min(40rem,80dvh)] max-w-lg flex-col rounded-xl border bg-raised shadow-pop outline-none",
            className,
          )}
        >
          <div className="flex items-start gap-3 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <Dialog.Title className="text-lg font-semibold tracking-tight">{title}</Dialog.Title>
              {description && (
                <Dialog.Description className="mt-0.5 text-sm text-muted">{description}</Dialog.Description>
              )}
            </div>
            <Dialog.Close
              render={
                <IconButton label="Close" size="sm" className="-mr-1.5">
                  <X />
                </IconButton>
              }
            />
          </div>
          {children && (
            <div className="scroll-thin min-h-0 overflow-y-auto px-5 pb-5">
              {typeof children === "function" ? children(() => onOpenChange(false)) : children}
            </div>
          )}
          {footer && <div className="flex flex-wrap justify-end gap-2 border-t px-5 py-3">{footer}</div>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
