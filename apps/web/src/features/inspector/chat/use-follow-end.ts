import { useEffect, useRef } from "react";

/** This near the end of the page counts as the end. */
const nearPixels = 120;

const isAtEnd = () => {
  const { scrollHeight } = document.documentElement;
  return scrollHeight - window.innerHeight - window.scrollY < nearPixels;
};
const toEnd = () => window.scrollTo({ top: document.documentElement.scrollHeight });

/**
 * Keeps the end of the chat in view while an answer grows (also by forms that load later), unless the person has
 * scrolled up to read. A chat opens at its end. `ref` is for the growing element; `follow` scrolls to the end again.
 */
export function useFollowEnd(openId: string | null, isAnswering: boolean) {
  const ref = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const onScroll = () => {
      follows.current = isAtEnd();
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => window.removeEventListener("scroll", onScroll);
  }, []);
  useEffect(() => {
    if (openId !== null) toEnd();
  }, [openId]);
  useEffect(() => {
    if (!isAnswering || !ref.current) return;
    const growing = new ResizeObserver(() => follows.current && toEnd());
    growing.observe(ref.current);
    return () => growing.disconnect();
  }, [isAnswering]);
  return {
    ref,
    follow: () => {
      follows.current = true;
      toEnd();
    },
  };
}
