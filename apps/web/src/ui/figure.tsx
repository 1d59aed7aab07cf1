import type { ReactNode } from "react";
import { Skeleton } from "./loading.tsx";

type FigureProps = {
  name: string;
  value: string | undefined;
  detail?: ReactNode;
  bad?: boolean;
  /** Below the number: its chart. */
  children?: ReactNode;
};

/** A number with its name, in a `dl`: 28 px, tabular digits. Without a value, a placeholder. */
export function Figure({ name, value, detail, bad = false, children }: FigureProps) {
  return (
    <div className="min-w-24">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="tabular flex items-baseline gap-1.5 text-figure font-semibold tracking-tight">
        {value === undefined ? (
          <Skeleton className="my-1 h-6.5 w-16" />
        ) : (
          <span className={bad ? "text-bad" : undefined}>{value}</span>
        )}
        {detail && <span className="text-xs font-normal tracking-normal text-muted">{detail}</span>}
      </dd>
      {children}
    </div>
  );
}

/** "1,234", "2.5": at most three decimals. Without `Intl`, which is slow to start (`wall-clock.ts`). */
export function formatCount(value: number): string {
  const [whole = "", decimals] = String(Math.round(value * 1000) / 1000).split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}
