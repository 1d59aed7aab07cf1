import { type ReactElement, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

const openAfterMs = 350;
const gap = 6;
const screenMargin = 4;

/**
 * A tooltip above `children`, or below them if there is no room, on hover and focus. It must not be the only label. It
 * can be hovered, and Escape closes it (WCAG 1.4.13). Uses the popover API directly, because it is on every page, and a
 * positioning library would be the largest part of most pages' script.
 */
export function Tooltip({ content, children }: { content: ReactNode; children: ReactElement }) {
  const [open, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const close = () => {
    clearTimeout(timer.current);
    setOpen(false);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only listens to its child's events
    <span
      className="contents"
      onMouseEnter={() => {
        timer.current = setTimeout(() => setOpen(true), openAfterMs);
      }}
      onMouseLeave={close}
      onFocus={(event) => event.target.matches(":focus-visible") && setOpen(true)}
      onBlur={close}
      onClick={close}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      {children}
      {open && <Popup>{content}</Popup>}
    </span>
  );
}

function Popup({ children }: { children: ReactNode }) {
  const popup = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const element = popup.current;
    const anchor = element?.previousElementSibling;
    if (!element || !anchor || typeof element.showPopover !== "function") return;
    // The top layer is above dialogs, and no scrolling parent clips it.
    element.showPopover();
    const { left, right, top, bottom } = anchor.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = element;
    const above = top - height - gap;
    element.style.top = `${above < screenMargin ? bottom + gap : above}px`;
    element.style.left = `${Math.max(screenMargin, Math.min((left + right - width) / 2, innerWidth - width - screenMargin))}px`;
  });
  return (
    <span
      ref={popup}
      popover="manual"
      role="tooltip"
      className="fixed inset-auto m-0 w-max max-w-72 rounded-md border-0 bg-ink px-2 py-1 text-xs text-canvas shadow-pop"
    >
      {children}
    </span>
  );
}
