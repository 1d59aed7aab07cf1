import type { ComponentProps, KeyboardEvent, RefObject } from "react";
import type { QueryText } from "./use-query-text.ts";

// What the plain field of the query bar and the one with a list have in common.

export type QueryInputProps = {
  readonly query: QueryText;
  readonly input: ComponentProps<"input">;
  /** Where the caret was in the field that `CompletingInput` replaces, if that had the focus. */
  readonly left: RefObject<number | null>;
  readonly onLeave: () => void;
};

/** Handles a key while no list is open. Whether it did more than keep the browser from emptying the field at Escape. */
export function onKeyOfClosed(
  event: KeyboardEvent<HTMLInputElement>,
  { isAsked, takeBack }: QueryText,
  onLeave: () => void,
): boolean {
  if (event.key === "Escape") {
    event.preventDefault();
    if (isAsked) event.currentTarget.blur();
    else takeBack();
    return true;
  }
  if (event.key !== "ArrowDown" || !isAsked) return false;
  event.preventDefault();
  onLeave();
  return true;
}
