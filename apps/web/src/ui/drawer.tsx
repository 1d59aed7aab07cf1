import { Drawer as BaseDrawer } from "@base-ui/react/drawer";
import { X } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { IconButton } from "./icon-button.tsx";

/** A panel at a side of the screen: details of a row on the right, the menu of phones on the left. */
export function Drawer({
  open,
  onOpenChange,
  trigger,
  title,
  side = "right",
  modal = true,
  actions,
  children,
  className,
}: {
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  trigger?: ReactElement;
  title: ReactNode;
  side?: "left" | "right";
  /** False: the list beside the drawer stays usable. */
  modal?: boolean;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <BaseDrawer.Root
      open={open}
      onOpenChange={onOpenChange}
      modal={modal}
      disablePointerDismissal={!modal}
      swipeDirection={side}
    >
      {trigger && <BaseDrawer.Trigger render={trigger} />}
      <BaseDrawer.Portal>
        {modal && (
          <BaseDrawer.Backdrop className="backdrop fixed inset-0 z-40 bg-shade transition-opacity duration-200 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        )}
        <BaseDrawer.Viewport className={classNames("fixed inset-0 z-50", !modal && "pointer-events-none")}>
          <BaseDrawer.Popup
            // Next to a usable list the focus stays in the list, so that its keyboard shortcuts keep working.
            initialFocus={modal ? undefined : false}
            className={classNames(
              "pointer-events-auto fixed inset-y-0 flex w-[min(30rem,100vw)] flex-col bg-raised shadow-pop [--ground:var(--raised)] transition-transform duration-200 ease-out outline-none",
              side === "right"
                ? "right-0 border-l data-ending-style:translate-x-full data-starting-style:translate-x-full"
                : "left-0 border-r data-ending-style:-translate-x-full data-starting-style:-translate-x-full",
              className,
            )}
          >
            <div className="flex min-h-12 items-center gap-2 border-b px-4 py-2">
              <BaseDrawer.Title className="min-w-0 flex-1 text-base font-semibold tracking-tight">
                {title}
              </BaseDrawer.Title>
              {actions}
              <BaseDrawer.Close
                render={
                  <IconButton label="Close" size="sm" className="-mr-1">
                    <X />
                  </IconButton>
                }
              />
            </div>
            <BaseDrawer.Content className="scroll-thin min-h-0 flex-1 overflow-y-auto p-4">
              {children}
            </BaseDrawer.Content>
          </BaseDrawer.Popup>
        </BaseDrawer.Viewport>
      </BaseDrawer.Portal>
    </BaseDrawer.Root>
  );
}
