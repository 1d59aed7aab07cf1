import { formatQueryText } from "@towpath/logs/query-parts";
import type { ParsedQuery } from "@towpath/logs/query-text";
import type { LogFilters } from "@towpath/logs/schema";
import { useEffect, useRef, useState } from "react";
import { useEarlyText } from "~/ui/early-entry.ts";
import { failureText, toast } from "~/ui/toast.ts";

/** What reads a query, which is loaded when the field is first used. */
export const loadParser = () => import("@towpath/logs/query-text");

export type QueryText = ReturnType<typeof useQueryText>;

/** The query bar's text while it is typed, and the last applied query. */
export function useQueryText(filters: LogFilters, onFilters: (filters: LogFilters) => void) {
  const asked = formatQueryText(filters);
  const [text, setText] = useState(asked);
  const [caret, setCaret] = useState(asked.length);
  /** An entered text that can't be parsed, and why. */
  const [refused, setRefused] = useState<{ text: string; problems: ParsedQuery["problems"] } | null>(null);
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

  const read = (query: string, { filters: next, problems }: ParsedQuery): void => {
    setRefused(problems.length > 0 ? { text: query, problems } : null);
    if (problems.length > 0) return;
    // In the address's form.
    sent.current = formatQueryText(next);
    setText(sent.current);
    onFilters(next);
  };
  const ask = (query: string): void =>
    void loadParser().then(
      ({ parseQueryText }) => read(query, parseQueryText(query)),
      (error: unknown) => toast.error(failureText(error)),
    );
  return {
    text,
    caret,
    input,
    isAsked: text === asked,
    problems: refused?.text === text ? refused.problems : [],
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
