import { createContext, type KeyboardEvent, type ReactNode, useContext, useId } from "react";
import { PlainButton } from "./button.tsx";
import { classNames } from "./class-names.ts";

type TabItem<Value extends string> = { value: Value; label: ReactNode; count?: ReactNode };

/** The prefix of the ids of tabs and panels, and the open tab's value. */
const Open = createContext({ id: "", value: "" });

/** The tab that a key moves to, from the one at `index`; undefined for other keys. */
const targets: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowRight: (index, count) => (index + 1) % count,
  ArrowLeft: (index, count) => (index - 1 + count) % count,
  Home: () => 0,
  End: (_index, count) => count - 1,
};

/**
 * Tabs. `children` are their `TabPanel`s. Arrow keys, Home and End open another tab. Our own, because they are part of the
 * first view of pages, which Base UI's would make a tenth heavier.
 */
export function Tabs<Value extends string>({
  value,
  onChange,
  tabs,
  label,
  children,
  className,
  wrap = false,
}: {
  value: Value;
  onChange: (value: Value) => void;
  tabs: readonly TabItem<Value>[];
  /** Names the list of tabs for screen readers. */
  label: string;
  children?: ReactNode;
  className?: string;
  /** Many tabs wrap to a second row instead of scrolling. */
  wrap?: boolean;
}) {
  const id = useId();
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const index = tabs.findIndex((tab) => tab.value === value);
    const next = tabs[targets[event.key]?.(index, tabs.length) ?? -1];
    if (!next || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    document.getElementById(tabId(id, next.value))?.focus();
    onChange(next.value);
  };
  return (
    <div className={className}>
      <div
        role="tablist"
        aria-label={label}
        onKeyDown={onKeyDown}
        className={classNames(
          "relative flex gap-1 border-b max-sm:gap-0",
          wrap ? "flex-wrap pb-1" : "scroll-thin scroll-hint overflow-x-auto",
        )}
      >
        {tabs.map((tab) => {
          const isOpen = tab.value === value;
          return (
            <PlainButton
              key={tab.value}
              role="tab"
              id={tabId(id, tab.value)}
              aria-selected={isOpen}
              aria-controls={isOpen && children !== undefined ? panelId(id, tab.value) : undefined}
              tabIndex={isOpen ? 0 : -1}
              onClick={() => onChange(tab.value)}
              className={classNames(
                "flex shrink-0 items-center gap-1.5 px-2.5 max-sm:gap-1 max-sm:px-1.5 text-sm font-medium text-muted -outline-offset-2 transition-colors hover:text-ink",
                wrap
                  ? "h-8 rounded-md aria-selected:bg-accent-soft aria-selected:text-accent-text"
                  : "h-9 rounded-t-md border-b-2 border-transparent aria-selected:border-accent aria-selected:text-ink",
              )}
            >
              {tab.label}
              {tab.count !== undefined && (
                <span className="tabular rounded-full bg-hover px-1.5 text-2xs text-muted max-sm:px-1">
                  {tab.count}
                </span>
              )}
            </PlainButton>
          );
        })}
      </div>
      <Open value={{ id, value }}>{children}</Open>
    </div>
  );
}

const tabId = (id: string, value: string) => `${id}-tab-${value}`;
const panelId = (id: string, value: string) => `${id}-panel-${value}`;

export function TabPanel({ value, children, className }: { value: string; children: ReactNode; className?: string }) {
  const open = useContext(Open);
  if (open.value !== value) return null;
  return (
    <div
      role="tabpanel"
      id={panelId(open.id, value)}
      aria-labelledby={tabId(open.id, value)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its content may have nothing to focus (WAI-ARIA, tabs)
      tabIndex={0}
      className={classNames("pt-4", className)}
    >
      {children}
    </div>
  );
}
