import { Popover } from "@base-ui/react/popover";
import { type ReactNode, type RefObject, useRef } from "react";
import type { SearchGroup } from "./rank-items.ts";
import { returnFocus } from "./return-focus.ts";
import { type SearchAction, SearchList } from "./search-list.tsx";

export type SwitcherPopupProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly groups: readonly SearchGroup<SearchAction>[];
  readonly empty: ReactNode;
  readonly anchor: RefObject<HTMLButtonElement | null>;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
};

/** The list of a `Switcher`, below its button. */
export function SwitcherPopup({ label, placeholder, groups, empty, anchor, open, onOpenChange }: SwitcherPopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Popover.Root
      open={open}
      onOpenChange={(next, { event, reason }) => {
        // The button itself toggles.
        const isButton = reason === "outside-press" && anchor.current?.contains(event.target as Node);
        if (!isButton) onOpenChange(next);
      }}
    >
      <Popover.Portal>
        <Popover.Positioner anchor={anchor} align="start" sideOffset={6} className="z-50 outline-none">
          <Popover.Popup
            aria-label={label}
            ref={popup}
            finalFocus={returnFocus(anchor, popup)}
            className="popup-motion flex max-h-[min(26rem,var(--available-height))] w-[min(20rem,calc(100vw-1.5rem))] flex-col overflow-hidden rounded-lg border bg-raised shadow-pop outline-none"
          >
            <SearchList
              label={label}
              placeholder={placeholder}
              groups={groups}
              empty={empty}
              onDone={() => onOpenChange(false)}
            />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
