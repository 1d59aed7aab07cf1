import { Menu as BaseMenu } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";
import { classNames } from "./class-names.ts";

const itemLook =
  "flex min-h-7 w-full cursor-default items-center gap-2 rounded-md px-2 py-1 text-left text-sm outline-none select-none data-disabled:opacity-55 data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint";

/** A menu of actions that a button opens; or controlled by `open`. */
export function Menu({
  trigger,
  open,
  onOpenChange,
  align = "end",
  children,
  className,
}: {
  trigger: ReactElement;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  align?: "start" | "center" | "end";
  children: ReactNode;
  className?: string;
}) {
  return (
    <BaseMenu.Root open={open} onOpenChange={onOpenChange}>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner align={align} sideOffset={4} className="z-50 outline-none">
          <BaseMenu.Popup
            className={classNames(
              "popup-motion scroll-thin max-h-[var(--available-height)] min-w-44 overflow-y-auto rounded-lg border bg-raised p-1 shadow-pop outline-none",
              className,
            )}
          >
            {children}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

/** An action of a menu, or a link with `render={<Link … />}`. */
export function MenuItem({
  icon,
  children,
  onClick,
  disabled,
  danger,
  render,
}: {
  icon?: ReactNode;
  children: ReactNode;
  onClick?: () => void;
  disabled?: boolean;
  danger?: boolean;
  render?: ReactElement;
}) {
  return (
    <BaseMenu.Item
      className={classNames(itemLook, danger && "text-bad [&_svg]:text-bad")}
      onClick={onClick}
      disabled={disabled}
      render={render}
    >
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
    </BaseMenu.Item>
  );
}

export function MenuSeparator() {
  return <BaseMenu.Separator className="-mx-1 my-1 h-px bg-line" />;
}

/** A group of items with a label. */
export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <BaseMenu.Group>
      <BaseMenu.GroupLabel className="px-2 pt-1.5 pb-1 text-2xs font-medium text-faint">{label}</BaseMenu.GroupLabel>
      {children}
    </BaseMenu.Group>
  );
}
