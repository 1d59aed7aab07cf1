import { type RefObject, useEffect, useState } from "react";

/** Whether an element has not been scrolled out at the top; true while that isn't known. */
export function useAtTop(element: RefObject<HTMLElement | null>): boolean {
  const [isAtTop, setAtTop] = useState(true);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry) setAtTop(entry.isIntersecting || entry.boundingClientRect.top > 0);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isAtTop;
}
