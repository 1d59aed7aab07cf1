import { ChevronsUpDown } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { PlainButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import type { SwitcherPopupProps } from "./switcher-popup.tsx";
import { useLazyModule } from "./use-lazy-module.ts";

type SwitcherProps = Pick<SwitcherPopupProps, "placeholder" | "groups" | "empty"> & {
  /** The button's action, for screen readers: "Switch server". */
  label: string;
  icon?: ReactNode;
  /** The current choice. */
  children: ReactNode;
  className?: string;
  /** Called when the list opens, to load its data. */
  onOpen?: () => void;
};

/**
 * A button that shows the current choice and opens a searchable list of alternatives. The list's code is loaded when a
 * pointer or the focus first reaches the button.
 */
export function Switcher({ label, icon, children, className, onOpen, ...list }: SwitcherProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const [popup, preload] = useLazyModule(() => import("./switcher-popup.tsx"), open, setOpen);
  return (
    <>
      <PlainButton
        ref={button}
        aria-haspopup="dialog"
        aria-expanded={open}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => {
          onOpen?.();
          setOpen(!open);
        }}
        className={classNames(
          "flex h-8 min-w-0 items-center gap-1.5 rounded-md px-2 text-sm font-medium hover:bg-hover aria-expanded:bg-hover [&_svg]:shrink-0",
          className,
        )}
      >
        {icon}
        <span className="min-w-0 truncate">{children}</span>
        <span className="sr-only">: {label}</span>
        <ChevronsUpDown className="size-3.5 text-faint" />
      </PlainButton>
      {popup && <popup.SwitcherPopup {...list} label={label} anchor={button} open={open} onOpenChange={setOpen} />}
    </>
  );
}
