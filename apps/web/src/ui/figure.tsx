import type { ReactNode } from "react";
import { Skeleton } from "./loading.tsx";

/** A number with its name, in a `dl`. Without a value, a placeholder. */
export function Figure({
  name,
  value,
  note,
  bad = false,
}: {
  name: string;
  value: string | undefined;
  note?: ReactNode;
  bad?: boolean;
}) {
  return (
    <div className="min-w-24">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="tabular flex items-baseline gap-1.5 text-lg leading-6 font-semibold tracking-tight">
        {value === undefined ? (
          <Skeleton className="h-5 w-14" />
        ) : (
          <span className={bad ? "text-bad" : undefined}>{value}</span>
        )}
        {note && <span className="text-xs font-normal text-muted">{note}</span>}
      </dd>
    </div>
  );
}

const wholeNumbers = new Intl.NumberFormat("en");
export const formatCount = (value: number): string => wholeNumbers.format(value);
