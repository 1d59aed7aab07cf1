import { Autocomplete } from "@base-ui/react/autocomplete";
import { type ComponentProps, useLayoutEffect, useMemo, useState } from "react";
import { formatCount } from "~/ui/figure.tsx";
import { type Completion, type CompletionGroup, completionsAt, type LogValues } from "./completions.ts";
import { onKeyOfClosed, type QueryInputProps } from "./query-input.ts";

type InputProps = ComponentProps<typeof Autocomplete.Input>;
type Details = Autocomplete.Root.ChangeEventDetails;
type CompletingInputProps = QueryInputProps & { readonly values: LogValues | undefined };

/** The query bar's field with its list of completions. */
export function CompletingInput({ query, values, input, left, onLeave }: CompletingInputProps) {
  const { text, caret } = query;
  const [isOpen, setOpen] = useState(false);
  const completions = useMemo(() => completionsAt(text, caret, values), [text, caret, values]);
  const open = isOpen && completions.length > 0;
  const { input: element } = query;
  // Before the browser handles the next key.
  useLayoutEffect(() => {
    if (left.current === null) return;
    element.current?.focus();
    element.current?.setSelectionRange(left.current, left.current);
    left.current = null;
  }, [element, left]);
  const choose = (next: string): void => {
    const chosen = completions.flatMap(({ items }) => items).find((item) => item.text === next);
    setOpen(chosen?.isComplete === false);
    if (chosen?.isComplete === false) query.complete(next, chosen.caret);
    else query.ask(next);
  };
  const onKeyDown: InputProps["onKeyDown"] = (event) => {
    // A key that asks closes the list, which stays closed until the next one.
    if (event.key === "Enter") setOpen(false);
    if (!open) {
      if (onKeyOfClosed(event, query, onLeave)) event.preventBaseUIHandler();
      return;
    }
    // Browsers empty a search field at Escape.
    if (event.key === "Escape") event.preventDefault();
  };
  return (
    <Autocomplete.Root
      items={completions}
      mode="none"
      value={text}
      onValueChange={(next: string, { reason }: Details) => (reason === "item-press" ? choose(next) : query.type(next))}
      open={open}
      // `choose` decides whether the list stays open.
      onOpenChange={(next: boolean, { reason }: Details) => reason !== "item-press" && setOpen(next)}
      openOnInputClick
      itemToStringValue={(item: Completion) => item.text}
    >
      <Autocomplete.Input {...(input as InputProps)} onKeyDown={onKeyDown} onFocus={() => setOpen(true)} />
      <Completions />
    </Autocomplete.Root>
  );
}

function Completions() {
  return (
    <Autocomplete.Portal>
      <Autocomplete.Positioner sideOffset={4} align="start" className="z-40 outline-none">
        <Autocomplete.Popup className="popup-motion max-w-[var(--available-width)] min-w-[min(24rem,var(--anchor-width))] rounded-lg border bg-raised shadow-pop">
          <Autocomplete.List className="scroll-thin max-h-[min(22rem,var(--available-height))] scroll-py-1 overflow-y-auto overscroll-contain p-1">
            {(group: CompletionGroup) => (
              <Autocomplete.Group key={group.label} items={group.items} className="not-last:mb-1">
                <Autocomplete.GroupLabel className="px-2 pt-1 pb-1 text-2xs font-medium text-faint">
                  {group.label}
                </Autocomplete.GroupLabel>
                <Autocomplete.Collection>
                  {(item: Completion) => (
                    <Autocomplete.Item
                      key={item.id}
                      value={item}
                      className="flex min-h-7 cursor-default items-center gap-3 rounded-md px-2 py-1 text-sm outline-none select-none data-highlighted:bg-hover"
                    >
                      <span className="min-w-0 shrink truncate font-mono text-xs">{item.label}</span>
                      <span className="min-w-0 flex-1 truncate text-xs text-muted">{item.detail}</span>
                      {item.calls === undefined ? null : (
                        <span className="tabular shrink-0 text-xs text-muted">{formatCount(item.calls)}</span>
                      )}
                    </Autocomplete.Item>
                  )}
                </Autocomplete.Collection>
              </Autocomplete.Group>
            )}
          </Autocomplete.List>
        </Autocomplete.Popup>
      </Autocomplete.Positioner>
    </Autocomplete.Portal>
  );
}
