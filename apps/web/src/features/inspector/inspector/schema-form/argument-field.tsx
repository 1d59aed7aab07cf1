import { ChevronsUpDown } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { Checkbox } from "~/ui/checkbox.tsx";
import { classNames } from "~/ui/class-names.ts";
import { controlLook } from "~/ui/control-look.ts";

// Parts that forms of flat schemas and the form library's share.

type ArgumentFieldProps = {
  readonly id: string;
  /** Null: the control names itself. */
  readonly label: string | null;
  readonly required: boolean;
  readonly description: string | null;
  readonly problems: readonly string[];
  readonly children: ReactNode;
};

/** Label, control, description and problems of one argument. Texts are untrusted and never rendered as HTML. */
export function ArgumentField({ id, label, required, description, problems, children }: ArgumentFieldProps) {
  return (
    <>
      {label !== null && (
        <label htmlFor={id} className="flex items-baseline gap-1.5 text-sm font-medium">
          <span className="break-all">{label}</span>
          {required && <span className="text-xs font-normal text-faint">required</span>}
        </label>
      )}
      {children}
      {description !== null && (
        <p id={`${id}__description`} className="line-clamp-6 text-xs break-words whitespace-pre-line text-muted">
          {description}
        </p>
      )}
      {problems.length > 0 && (
        <ul id={`${id}__error`} className="text-xs text-bad">
          {[...new Set(problems)].map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The ids of an `ArgumentField`'s description and problems, for its control. */
export const describedBy = (id: string, hasDescription: boolean, isInvalid: boolean): string | undefined =>
  [hasDescription ? `${id}__description` : "", isInvalid ? `${id}__error` : ""].join(" ").trim() || undefined;

/** A native select, which handles hundreds of options and any label. It looks as those of ui/select.tsx. */
export function NativeSelect({ multiple, className, ...rest }: ComponentProps<"select">) {
  const select = (
    <select
      {...rest}
      multiple={multiple}
      className={classNames(controlLook, "w-full", multiple ? "min-h-24 px-2 py-1" : "h-8 appearance-none pr-8 pl-2.5")}
    />
  );
  if (multiple) return select;
  return (
    <span className="relative block">
      {select}
      <ChevronsUpDown className="pointer-events-none absolute top-1/2 right-2.5 size-3.5 -translate-y-1/2 text-faint" />
    </span>
  );
}

type YesNoProps = {
  readonly label: string;
  readonly required: boolean;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
};

export function YesNo({ label, required, checked, onChange }: YesNoProps) {
  return (
    <Checkbox checked={checked} onChange={onChange}>
      <span className="font-medium break-all">{label}</span>
      {required && <span className="ml-1.5 text-xs text-faint">required</span>}
    </Checkbox>
  );
}
