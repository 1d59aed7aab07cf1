import type { ComponentProps, ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** Look of everything that one types into or picks from. */
export const controlLook =
  "rounded-md border border-line-strong/70 bg-surface text-sm text-ink transition-[border-color,box-shadow] duration-100 placeholder:text-faint hover:border-line-strong focus-visible:border-focus focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-focus/60 disabled:cursor-not-allowed disabled:bg-sunken disabled:text-muted aria-invalid:border-bad";

/** A one-line text field; inside a `Field` it gets its label, hint and error by itself. */
export function Input({
  className,
  mono = false,
  leading,
  trailing,
  ...rest
}: ComponentProps<"input"> & { mono?: boolean; leading?: ReactNode; trailing?: ReactNode }) {
  const input = (
    <input
      className={classNames(
        controlLook,
        "h-8 w-full px-2.5",
        mono && "font-mono text-xs",
        leading && "pl-8",
        trailing && "pr-9",
        className,
      )}
      {...rest}
    />
  );
  if (!leading && !trailing) return input;
  return (
    <span className="relative block w-full">
      {leading && (
        <span className="pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-faint [&_svg]:size-4">
          {leading}
        </span>
      )}
      {input}
      {trailing && <span className="absolute inset-y-0 right-1 flex items-center">{trailing}</span>}
    </span>
  );
}

/** A text field of several lines. */
export function Textarea({ className, mono = false, ...rest }: ComponentProps<"textarea"> & { mono?: boolean }) {
  return (
    <textarea
      className={classNames(
        controlLook,
        "scroll-thin block min-h-20 w-full resize-y px-2.5 py-1.5",
        mono && "font-mono text-xs leading-5",
        className,
      )}
      spellCheck={mono ? false : undefined}
      {...rest}
    />
  );
}
