import type { RefObject } from "react";

type Element = RefObject<HTMLElement | null>;

/**
 * For `finalFocus` of a popup: its button, unless another element has the focus by then, such as a dialog opened by an
 * item, or a field that was clicked outside.
 */
export const returnFocus = (button: Element, popup: Element) => () => {
  const { activeElement, body } = document;
  const isElsewhere = activeElement !== null && activeElement !== body && !popup.current?.contains(activeElement);
  return isElsewhere ? false : button.current;
};
