import type { Autocomplete } from "@base-ui/react/autocomplete";
import { formatQueryText, parseQueryText } from "@towpath/logs/query-text";
import type { LogFilters } from "@towpath/logs/schema";
import { useEffect, useMemo, useRef, useState } from "react";
import { useEarlyText } from "~/ui/early-entry.ts";
import { completionsAt, type LogValues } from "./completions.ts";

type Details = Autocomplete.Root.ChangeEventDetails;

/** The query bar's text while it is typed, the last applied query, and completions. */
export function useQueryText(
  filters: LogFilters,
  onFilters: (filters: LogFilters) => void,
  values: LogValues | undefined,
) {
  const asked = formatQueryText(filters);
  const [text, setText] = useState(asked);
  const [caret, setCaret] = useState(asked.length);
  const [open, setOpen] = useState(false);
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
  const completions = useMemo(() => completionsAt(text, caret, values), [text, caret, values]);

  const ask = (query: string): void => {
    const parsed = parseQueryText(query);
    setRefused(parsed.problems.length > 0 ? query : null);
    setOpen(false);
    if (parsed.problems.length > 0) return;
    // In the address's form.
    sent.current = formatQueryText(parsed.filters);
    setText(sent.current);
    onFilters(parsed.filters);
  };
  const choose = (next: string): void => {
    const chosen = completions.flatMap(({ items }) => items).find((item) => item.text === next);
    setText(next);
    if (!chosen || chosen.isComplete) {
      ask(next);
      return;
    }
    setCaret(chosen.caret);
    setOpen(true);
    requestAnimationFrame(() => input.current?.setSelectionRange(chosen.caret, chosen.caret));
  };
  return {
    text,
    input,
    completions,
    isAsked: text === asked,
    problems: refused === text ? parseQueryText(text).problems : [],
    open: open && completions.length > 0,
    onText: (next: string, { reason }: Details): void => {
      if (reason === "item-press") {
        choose(next);
        return;
      }
      setText(next);
      setCaret(input.current?.selectionStart ?? next.length);
    },
    // `choose` decides whether the list stays open.
    onOpen: (next: boolean, { reason }: Details): void => {
      if (reason !== "item-press") setOpen(next);
    },
    onFocus: () => setOpen(true),
    onCaret: () => setCaret(input.current?.selectionStart ?? text.length),
    onSubmit: (): void => ask(text),
    takeBack: () => setText(asked),
    clear: () => {
      ask("");
      input.current?.focus();
    },
  };
}
