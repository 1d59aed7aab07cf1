import { formatQueryText, parseQueryText } from "@towpath/logs/query-text";
import type { LogFilters } from "@towpath/logs/schema";
import { useEffect, useRef, useState } from "react";
import { useEarlyText } from "~/ui/early-entry.ts";

export type QueryText = ReturnType<typeof useQueryText>;

/** The query bar's text while it is typed, and the last applied query. */
export function useQueryText(filters: LogFilters, onFilters: (filters: LogFilters) => void) {
  const asked = formatQueryText(filters);
  const [text, setText] = useState(asked);
  const [caret, setCaret] = useState(asked.length);
  /** An entered text that can't be parsed. */
  const [refused, setRefused] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  useEarlyText(input, asked, ({ value }) => {
    setText(value);
    setCaret(value.length);
  });
  const sent = useRef(asked);
  // Links, chips and the browser's buttons change the query too. Ignore the echo of a query typed here: the next one
  // may be half typed by then.
  useEffect(() => {
    if (asked === sent.current) return;
    sent.current = asked;
    setText(asked);
    setCaret(asked.length);
  }, [asked]);

  const ask = (query: string): void => {
    const parsed = parseQueryText(query);
    setRefused(parsed.problems.length > 0 ? query : null);
    if (parsed.problems.length > 0) return;
    // In the address's form.
    sent.current = formatQueryText(parsed.filters);
    setText(sent.current);
    onFilters(parsed.filters);
  };
  return {
    text,
    caret,
    input,
    isAsked: text === asked,
    problems: refused === text ? parseQueryText(text).problems : [],
    ask,
    type: (next: string): void => {
      setText(next);
      setCaret(input.current?.selectionStart ?? next.length);
    },
    /** Takes a completion, without asking yet. */
    complete: (next: string, nextCaret: number): void => {
      setText(next);
      setCaret(nextCaret);
      requestAnimationFrame(() => input.current?.setSelectionRange(nextCaret, nextCaret));
    },
    onCaret: () => setCaret(input.current?.selectionStart ?? text.length),
    takeBack: () => setText(asked),
    clear: () => {
      ask("");
      input.current?.focus();
    },
  };
}
