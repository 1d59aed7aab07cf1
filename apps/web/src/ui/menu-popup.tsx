import { Menu } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import { type ReactNode, type RefObject, useRef } from "react";
import { classNames } from "./class-names.ts";
import { MenuParts, type Parts } from "./menu-parts.ts";
import { returnFocus } from "./return-focus.ts";

const { Item, Separator, Group, GroupLabel, RadioGroup, RadioItem } = Menu;
const parts: Parts = { Item, Separator, Group, GroupLabel, RadioGroup, RadioItem, Mark: Check };

type MenuPopupProps = {
  anchor: RefObject<HTMLButtonElement | null>;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  align: "start" | "center" | "end";
  className: string | undefined;
  children: ReactNode;
};

/** The list of a `Menu`, beside its button. */
export function MenuPopup({ anchor, open, onOpenChange, align, className, children }: MenuPopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Menu.Root
      open={open}
      onOpenChange={(next, { event, reason }) => {
        // The button itself toggles.
        const isButton = reason === "outside-press" && anchor.current?.contains(event.target as Node);
        if (!isButton) onOpenChange(next);
      }}
    >
      <Menu.Portal>
        <Menu.Positioner anchor={anchor} align={align} sideOffset={4} className="z-50 outline-none">
          <Menu.Popup
            ref={popup}
            finalFocus={returnFocus(anchor, popup)}
            className={classNames(
              "popup-motion scroll-thin max-h-[var(--available-height)] min-w-44 overflow-y-auto rounded-lg border bg-raised p-1 shadow-pop outline-none",
              className,
            )}
          >
            <MenuParts value={parts}>{children}</MenuParts>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
