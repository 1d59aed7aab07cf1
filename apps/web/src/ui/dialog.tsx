import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { IconButton } from "./icon-button.tsx";

/** What has the focus once a dialog is closed; true: what had it before. */
export type FinalFocus = () => HTMLElement | true;

/** A modal dialog, opened by `trigger` or controlled by `open`. `footer` is for its buttons. */
export function Dialog({
  open,
  onOpenChange,
  trigger,
  title,
  description,
  children,
  footer,
  finalFocus,
  className,
}: {
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  trigger?: ReactElement;
  title: ReactNode;
  description?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  finalFocus?: FinalFocus;
  className?: string;
}) {
  return (
    <BaseDialog.Root open={open} onOpenChange={onOpenChange}>
      {trigger && <BaseDialog.Trigger render={trigger} />}
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-shade transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <BaseDialog.Popup
          finalFocus={finalFocus}
          className={classNames(
            "popup-motion fixed inset-x-3 top-[max(1rem,12dvh)] z-50 mx-auto flex max-h-[min(40rem,80dvh)] max-w-lg flex-col rounded-xl border bg-raised shadow-pop outline-none",
            className,
          )}
        >
          <div className="flex items-start gap-3 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <BaseDialog.Title className="text-lg font-semibold tracking-tight">{title}</BaseDialog.Title>
              {description && (
                <BaseDialog.Description className="mt-0.5 text-sm text-muted">{description}</BaseDialog.Description>
              )}
            </div>
            <BaseDialog.Close
              render={
                <IconButton label="Close" size="sm" className="-mr-1.5">
                  <X aria-hidden />
                </IconButton>
              }
            />
          </div>
          {children && <div className="scroll-thin min-h-0 overflow-y-auto px-5 pb-5">{children}</div>}
          {footer && <div className="flex flex-wrap justify-end gap-2 border-t px-5 py-3">{footer}</div>}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
