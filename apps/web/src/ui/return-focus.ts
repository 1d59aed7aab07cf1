import type { RefObject } from "react";

type Element = RefObject<HTMLElement | null>;

/**
 * For `finalFocus` of a popup: its button, unless something else has the focus by then, such as the dialog that an item
 * has opened or the field that was pressed outside.
 */
export const returnFocus = (button: Element, popup: Element) => () => {
  const { activeElement, body } = document;
  const isElsewhere = activeElement !== null && activeElement !== body && !popup.current?.contains(activeElement);
  return isElsewhere ? false : button.current;
};
