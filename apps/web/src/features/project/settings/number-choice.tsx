import type { ReactNode } from "react";
import { Select } from "~/ui/select.tsx";

type NumberChoiceProps = {
  readonly id: string;
  readonly label: string;
  readonly value: number;
  readonly choices: readonly number[];
  readonly nameOf: (value: number) => string;
  readonly onChange: (value: number) => void;
  /** What it does. */
  readonly children?: ReactNode;
};

/** A setting that is one of a few numbers, or another one that was set over REST. */
export function NumberChoice({ id, label, value, choices, nameOf, onChange, children }: NumberChoiceProps) {
  const offered = [...new Set([...choices, value])].sort((a, b) => a - b);
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <p className="min-w-0 flex-1 basis-60 text-sm">
        <span id={id}>{label}</span>
        {children ? <span className="block text-xs text-pretty text-muted">{children}</span> : null}
      </p>
      <Select
        aria-labelledby={id}
        className="w-36"
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
        options={offered.map((each) => ({ value: String(each), label: nameOf(each) }))}
      />
    </div>
  );
}
