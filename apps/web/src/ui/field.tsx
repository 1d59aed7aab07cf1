import { type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";

/** What a control inside a `Field` must carry; spread it: `{(control) => <Input {...control} />}`. */
type FieldControl = {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
  required: boolean | undefined;
};

/**
 * A labelled control with hint, error and, with `count` and `max`, a `19/32 characters` counter (ONB-11). The error
 * takes the place of the hint, so that nothing moves more than it must, and is announced.
 */
export function Field({
  label,
  hint,
  error,
  count,
  max,
  required,
  optional,
  action,
  className,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  count?: number;
  max?: number;
  required?: boolean;
  optional?: boolean;
  action?: ReactNode;
  className?: string;
  children: (control: FieldControl) => ReactNode;
}) {
  const id = useId();
  const noteId = `${id}-note`;
  const counted = count !== undefined && max !== undefined;
  const hasNote = Boolean(hint || error || counted);
  return (
    <div className={classNames("flex min-w-0 flex-col gap-1.5", className)}>
      <div className="flex min-h-5 items-center justify-between gap-3">
        <label htmlFor={id} className="text-sm font-medium text-ink">
          {label}
          {optional && <span className="ml-1.5 font-normal text-faint">optional</span>}
        </label>
        {action}
      </div>
      {children({
        id,
        "aria-describedby": hasNote ? noteId : undefined,
        "aria-invalid": error ? true : undefined,
        required,
      })}
      {hasNote && (
        <div id={noteId} className="flex justify-between gap-4 text-xs">
          <span aria-live="polite" className={classNames("min-w-0 break-words", error ? "text-bad" : "text-muted")}>
            {error || hint}
          </span>
          {counted && (
            <span className={classNames("tabular shrink-0", count > max ? "text-bad" : "text-faint")}>
              {count}/{max} characters
            </span>
          )}
        </div>
      )}
    </div>
  );
}
