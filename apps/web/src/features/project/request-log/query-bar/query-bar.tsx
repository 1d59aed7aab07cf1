import { Autocomplete } from "@base-ui/react/autocomplete";
import type { LogFilters } from "@towpath/logs/schema";
import { CornerDownLeft, Search, X } from "lucide-react";
import { type ComponentProps, useId } from "react";
import { classNames } from "~/ui/class-names.ts";
import { controlLook } from "~/ui/field.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Form } from "~/ui/form.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Kbd } from "~/ui/kbd.tsx";
import type { Completion, CompletionGroup, LogValues } from "./completions.ts";
import { useQueryText } from "./use-query-text.ts";

type QueryBarProps = {
  filters: LogFilters;
  onFilters: (filters: LogFilters) => void;
  /** Undefined while they load. */
  values: LogValues | undefined;
  /** Moves the focus to the rows. */
  onLeave: () => void;
};

/**
 * The log's filters as text, with completion of keys and values. `/` focuses it (`useShortcuts`), Enter applies it,
 * Escape closes the list and then reverts the text, the down arrow moves from the closed list to the rows.
 */
export function QueryBar({ filters, onFilters, values, onLeave }: QueryBarProps) {
  const query = useQueryText(filters, onFilters, values);
  const { text, problems, open, isAsked } = query;
  const problemsId = useId();
  const onKeyDown: ComponentProps<typeof Autocomplete.Input>["onKeyDown"] = (event) => {
    // Browsers empty a search field at Escape.
    if (event.key === "Escape") event.preventDefault();
    if (open) return;
    if (event.key === "Escape") {
      // So would Base UI.
      event.preventBaseUIHandler();
      if (isAsked) event.currentTarget.blur();
      else query.takeBack();
    }
    if (event.key === "ArrowDown" && isAsked) {
      event.preventBaseUIHandler();
      event.preventDefault();
      onLeave();
    }
  };
  return (
    <search className="min-w-0 flex-1 max-sm:basis-full">
      <Form onSubmit={query.onSubmit} className="relative">
        <Autocomplete.Root
          items={query.completions}
          mode="none"
          value={text}
          onValueChange={query.onText}
          open={open}
          onOpenChange={query.onOpen}
          openOnInputClick
          itemToStringValue={(item: Completion) => item.text}
        >
          <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
          <Autocomplete.Input
            ref={query.input}
            type="search"
            aria-label="Filter the log"
            aria-invalid={problems.length > 0 || undefined}
            aria-describedby={problems.length > 0 ? problemsId : undefined}
            placeholder="tool:echo status:error, or any text"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            onKeyDown={onKeyDown}
            onFocus={query.onFocus}
            onSelect={query.onCaret}
            className={classNames(
              controlLook,
              "h-8 w-full pr-17 pl-8 font-mono text-xs [&::-webkit-search-cancel-button]:hidden",
            )}
          />
          <span className="absolute inset-y-0 right-0.5 flex items-center">
            {isAsked ? null : (
              <IconButton label="Apply (Enter)" type="submit" size="sm">
                <CornerDownLeft />
              </IconButton>
            )}
            {text === "" ? (
              <span className="pr-1.5 max-sm:hidden" aria-hidden>
                <Kbd>/</Kbd>
              </span>
            ) : (
              <IconButton label="Clear the query" size="sm" onClick={query.clear}>
                <X />
              </IconButton>
            )}
          </span>
          <Completions />
        </Autocomplete.Root>
      </Form>
      {problems.length > 0 ? (
        <ul id={problemsId} role="alert" className="mt-1.5 text-xs text-bad">
          {problems.map((problem) => (
            <li key={`${problem.from} ${problem.text}`}>{problem.text}</li>
          ))}
        </ul>
      ) : null}
    </search>
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
