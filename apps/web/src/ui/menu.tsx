import { cloneElement, type ReactElement, type ReactNode, type Ref, use, useRef, useState } from "react";
import { classNames } from "./class-names.ts";
import { MenuParts, type Parts } from "./menu-parts.ts";
import { useLazyModule } from "./use-lazy-module.ts";

function useParts(): Parts {
  const parts = use(MenuParts);
  if (parts === null) throw new Error("An item of a menu is outside a menu.");
  return parts;
}

type TriggerProps = {
  ref: Ref<HTMLButtonElement>;
  "aria-haspopup": "menu";
  "aria-expanded": boolean;
  onPointerEnter: () => void;
  onFocus: () => void;
  onClick: () => void;
  onKeyDown: (event: React.KeyboardEvent) => void;
};

type MenuProps = {
  /** A button that passes its props on. */
  trigger: ReactElement<Partial<TriggerProps>>;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  align?: "start" | "center" | "end";
  children: ReactNode;
  className?: string;
};

/**
 * A menu of actions that a button opens; or controlled by `open`. Its code is loaded with the first pointer or key that
 * reaches the button.
 */
export function Menu({ trigger, open: controlled, onOpenChange, align = "end", children, className }: MenuProps) {
  const anchor = useRef<HTMLButtonElement>(null);
  const [own, setOwn] = useState(false);
  const open = controlled ?? own;
  const change = (next: boolean) => {
    if (controlled === undefined) setOwn(next);
    onOpenChange?.(next);
  };
  const [popup, preload] = useLazyModule(() => import("./menu-popup.tsx"), open, change);
  return (
    <>
      {cloneElement(trigger, {
        ref: anchor,
        "aria-haspopup": "menu",
        "aria-expanded": open,
        onPointerEnter: preload,
        onFocus: preload,
        onClick: () => change(!open),
        onKeyDown: (event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          change(true);
        },
      })}
      {popup && (
        <popup.MenuPopup anchor={anchor} open={open} align={align} className={className} onOpenChange={change}>
          {children}
        </popup.MenuPopup>
      )}
    </>
  );
}

const itemLook =
  "flex min-h-7 w-full cursor-default items-center gap-2 rounded-md px-2 py-1 text-left text-sm outline-none select-none data-disabled:opacity-55 data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint";

type MenuItemProps = {
  icon?: ReactNode;
  children: ReactNode;
  onClick?: () => void;
  disabled?: boolean;
  danger?: boolean;
  render?: ReactElement;
};

/** An action of a menu, or a link with `render={<Link … />}`. */
export function MenuItem({ icon, children, onClick, disabled, danger, render }: MenuItemProps) {
  const { Item } = useParts();
  return (
    <Item
      className={classNames(itemLook, danger && "text-bad [&_svg]:text-bad")}
      onClick={onClick}
      disabled={disabled}
      render={render}
    >
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
    </Item>
  );
}

type MenuChoicesProps<Value extends string> = {
  value: Value;
  choices: readonly (readonly [Value, string])[];
  onChange: (value: Value) => void;
};

/** A choice of items: `[value, label]` each. */
export function MenuChoices<Value extends string>({ value, choices, onChange }: MenuChoicesProps<Value>) {
  const { RadioGroup, RadioItem, Mark } = useParts();
  return (
    <RadioGroup value={value} onValueChange={(next) => onChange(next as Value)}>
      {choices.map(([choice, label]) => (
        <RadioItem key={choice} value={choice} className={itemLook}>
          <Mark className={choice === value ? "" : "invisible"} aria-hidden />
          {label}
        </RadioItem>
      ))}
    </RadioGroup>
  );
}

export function MenuSeparator() {
  const { Separator } = useParts();
  return <Separator className="-mx-1 my-1 h-px bg-line" />;
}

/** A group of items with a label. */
export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  const { Group, GroupLabel } = useParts();
  return (
    <Group>
      <GroupLabel className="px-2 pt-1.5 pb-1 text-2xs font-medium text-faint">{label}</GroupLabel>
      {children}
    </Group>
  );
}
