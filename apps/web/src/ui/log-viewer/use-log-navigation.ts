import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { findMatches, type LogLine, plainText } from "./log-line.ts";

/** How far from the end, in pixels, still counts as the end. */
const tailSlack = 32;

/** State of the viewer: visible lines, whether it follows the end, and the search. */
export function useLogNavigation(lines: readonly LogLine[], live: boolean) {
  const scroller = useRef<HTMLDivElement>(null);
  const searchInput = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState("");
  const [currentMatch, setCurrentMatch] = useState(0);
  const [wrap, setWrap] = useState(true);
  const [following, setFollowing] = useState(live);
  const linkedId = useLinkedLine();

  const plain = useMemo(() => lines.map((line) => plainText(line.text)), [lines]);
  const matches = useMemo(() => findMatches(plain, query), [plain, query]);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    overscan: 30,
    getItemKey: (index) => lines[index]?.id ?? index,
  });

  const showLine = (index: number) => {
    setFollowing(false);
    virtual.scrollToIndex(index, { align: "center" });
  };

  useEffect(() => {
    if (following && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: "end" });
  }, [following, lines.length, virtual]);

  const linkedIndex = linkedId === null ? -1 : lines.findIndex((line) => line.id === linkedId);
  useEffect(() => {
    if (linkedIndex < 0) return;
    setFollowing(false);
    virtual.scrollToIndex(linkedIndex, { align: "center" });
  }, [linkedIndex, virtual]);

  const step = (by: 1 | -1) => {
    if (matches.length === 0) return;
    const next = (currentMatch + by + matches.length) % matches.length;
    setCurrentMatch(next);
    showLine(matches[next] ?? 0);
  };

  const search = (next: string) => {
    setQuery(next);
    setCurrentMatch(0);
    const first = findMatches(plain, next)[0];
    if (first !== undefined) showLine(first);
  };

  // Called only after the user scrolls: the virtualizer's own corrections must not stop following.
  const afterScroll = () =>
    requestAnimationFrame(() => {
      const element = scroller.current;
      if (!element) return;
      const left = element.scrollHeight - element.scrollTop - element.clientHeight;
      if (left >= tailSlack) setFollowing(false);
    });

  return {
    scroller,
    searchInput,
    virtual,
    plain,
    query,
    search,
    matches,
    currentMatch: matches.length === 0 ? -1 : Math.min(currentMatch, matches.length - 1),
    step,
    wrap,
    toggleWrap: () => setWrap((before) => !before),
    following,
    setFollowing,
    toTop: () => showLine(0),
    linkedId,
    afterScroll,
  };
}

export type LogNavigation = ReturnType<typeof useLogNavigation>;

/** Single-letter keys work only while the viewer has the focus (WCAG 2.1.4). */
export function handleLogKey(event: KeyboardEvent, navigation: LogNavigation): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  switch (event.key) {
    case "/":
      navigation.searchInput.current?.focus();
      break;
    case "n":
      navigation.step(1);
      break;
    case "N":
      navigation.step(-1);
      break;
    case "g":
    case "Home":
      navigation.toTop();
      break;
    case "G":
    case "End":
      navigation.setFollowing(true);
      break;
    case "w":
      navigation.toggleWrap();
      break;
    default:
      return;
  }
  event.preventDefault();
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

function readLine(): number | null {
  const found = /^#L(\d{1,9})$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

/** The line number in the URL's `#L12`, or null. */
function useLinkedLine(): number | null {
  return useSyncExternalStore(subscribe, readLine, () => null);
}
