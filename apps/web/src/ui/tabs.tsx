import { Tabs as BaseTabs } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { PlainButton } from "./button.tsx";
import { classNames } from "./class-names.ts";

type TabItem<Value extends string> = { value: Value; label: ReactNode; count?: ReactNode };

/** Tabs. `children` are their `TabPanel`s. */
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
  return (
    <BaseTabs.Root value={value} onValueChange={(next) => onChange(next as Value)} className={className}>
      <BaseTabs.List
        aria-label={label}
        activateOnFocus
        className={classNames("relative flex gap-1 border-b", wrap ? "flex-wrap pb-1" : "scroll-thin overflow-x-auto")}
      >
        {tabs.map((tab) => (
          <BaseTabs.Tab
            key={tab.value}
            value={tab.value}
            render={<PlainButton />}
            className={classNames(
              "flex h-9 shrink-0 items-center gap-1.5 rounded-t-md px-2.5 text-sm font-medium text-muted -outline-offset-2 transition-colors hover:text-ink data-active:text-ink",
              wrap && "h-8 rounded-md data-active:bg-accent-soft data-active:text-accent-text",
            )}
          >
            {tab.label}
            {tab.count !== undefined && (
              <span className="tabular rounded-full bg-hover px-1.5 text-2xs text-muted">{tab.count}</span>
            )}
          </BaseTabs.Tab>
        ))}
        {!wrap && (
          <BaseTabs.Indicator className="absolute bottom-0 left-0 h-0.5 w-[var(--active-tab-width)] translate-x-[var(--active-tab-left)] rounded-full bg-accent transition-[translate,width] duration-150 ease-out" />
        )}
      </BaseTabs.List>
      {children}
    </BaseTabs.Root>
  );
}

export function TabPanel({ value, children, className }: { value: string; children: ReactNode; className?: string }) {
  return (
    <BaseTabs.Panel value={value} className={classNames("pt-4", className)}>
      {children}
    </BaseTabs.Panel>
  );
}
