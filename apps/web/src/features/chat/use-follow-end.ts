import type { ChatTurnView } from "@towpath/core/chat";
import { useEffect, useLayoutEffect, useRef } from "react";

/** How near the end of the page counts as being there. */
const nearPixels = 120;

const isAtEnd = () => {
  const { scrollHeight } = document.documentElement;
  return scrollHeight - window.innerHeight - window.scrollY < nearPixels;
};

/**
 * Keeps the end of the chat in view while an answer grows, unless the person has scrolled up to read. `follow` goes there
 * again; `ref` is for an element at the end.
 */
export function useFollowEnd(turns: readonly ChatTurnView[]) {
  const ref = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const toEnd = () => window.scrollTo({ top: document.documentElement.scrollHeight });
  useEffect(() => {
    const note = () => {
      follows.current = isAtEnd();
    };
    window.addEventListener("scroll", note, { passive: true });
    return () => window.removeEventListener("scroll", note);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the answer may make it longer
  useLayoutEffect(() => {
    if (follows.current && turns.length > 0) toEnd();
  }, [turns]);
  return {
    ref,
    follow: () => {
      follows.current = true;
      toEnd();
    },
  };
}
