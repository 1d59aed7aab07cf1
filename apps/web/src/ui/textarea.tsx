import type { ComponentProps } from "react";
import { classNames } from "./class-names.ts";
import { controlLook } from "./input.tsx";

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
