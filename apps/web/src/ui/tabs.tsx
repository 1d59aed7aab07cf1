import { Tabs as BaseTabs } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

type TabItem<Value extends string> = { value: Value; label: ReactNode; note?: ReactNode };

/** Tabs. `children` are their `TabPanel`s. */
export function Tabs<Value extends string>({
  value,
  onChange,
  tabs,
  label,
  children,
  className,
}: {
  value: Value;
  onChange: (value: Value) => void;
  tabs: readonly TabItem<Value>[];
  /** Names the list of tabs for screen readers. */
  label: string;
  children?: ReactNode;
  className?: string;
}) {
  return (
    <BaseTabs.Root value={value} onValueChange={(next) => onChange(next as Value)} className={className}>
      <BaseTabs.List
        aria-label={label}
        activateOnFocus
        className="scroll-thin relative flex gap-1 overflow-x-auto border-b"
      >
        {tabs.map((tab) => (
          <BaseTabs.Tab
            key={tab.value}
            value={tab.value}
            className="flex h-9 shrink-0 items-center gap-1.5 rounded-t-md px-2.5 text-sm font-medium text-muted -outline-offset-2 transition-colors hover:text-ink data-active:text-ink"
          >
            {tab.label}
            {tab.note !== undefined && (
              <span className="tabular rounded-full bg-hover px-1.5 text-2xs text-muted">{tab.note}</span>
            )}
          </BaseTabs.Tab>
        ))}
        <BaseTabs.Indicator className="absolute bottom-0 left-0 h-0.5 w-[var(--active-tab-width)] translate-x-[var(--active-tab-left)] rounded-full bg-accent transition-[translate,width] duration-150 ease-out" />
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
