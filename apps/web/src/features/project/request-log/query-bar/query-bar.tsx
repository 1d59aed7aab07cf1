import type { LogFilters } from "@towpath/logs/schema";
import { CornerDownLeft, Search, X } from "lucide-react";
import { type ComponentProps, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { classNames } from "~/ui/class-names.ts";
import { controlLook } from "~/ui/control-look.ts";
import { Form } from "~/ui/form.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Kbd } from "~/ui/kbd.tsx";
import { useLazyModule } from "~/ui/use-lazy-module.ts";
import type { LogValues } from "./completions.ts";
import { onKeyOfClosed, type QueryInputProps } from "./query-input.ts";
import { loadParser, useQueryText } from "./use-query-text.ts";

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
 * Escape closes the list and then reverts the text, the down arrow moves from the closed list to the rows. The list's code
 * is loaded when the field is first used; without it the field works as well.
 */
export function QueryBar({ filters, onFilters, values, onLeave }: QueryBarProps) {
  const query = useQueryText(filters, onFilters);
  const { text, problems, isAsked } = query;
  const problemsId = useId();
  const left = useRef<number | null>(null);
  const [isUsed, setUsed] = useState(false);
  const [list, preload] = useLazyModule(
    () => {
      loadParser().catch(() => {});
      return import("./completing-input.tsx");
    },
    isUsed,
    () => setUsed(false),
  );
  const input: ComponentProps<"input"> = {
    ref: query.input,
    type: "search",
    "aria-label": "Filter the log",
    "aria-invalid": problems.length > 0 || undefined,
    "aria-describedby": problems.length > 0 ? problemsId : undefined,
    placeholder: "tool:echo status:error, or any text",
    autoComplete: "off",
    autoCapitalize: "off",
    spellCheck: false,
    onSelect: query.onCaret,
    className: classNames(
      controlLook,
      // Phones have no button in an empty field.
      "h-8 w-full pr-17 pl-8 font-mono text-xs max-sm:placeholder-shown:pr-2 [&::-webkit-search-cancel-button]:hidden",
    ),
  };
  return (
    <search className="min-w-0 flex-1 max-sm:basis-full">
      <Form onSubmit={() => query.ask(text)} className="relative">
        <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
        {list ? (
          <list.CompletingInput query={query} values={values} input={input} left={left} onLeave={onLeave} />
        ) : (
          <PlainInput
            query={query}
            input={input}
            left={left}
            onLeave={onLeave}
            onNear={preload}
            onUse={() => setUsed(true)}
          />
        )}
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

type PlainInputProps = QueryInputProps & { readonly onNear: () => void; readonly onUse: () => void };

/** The field without its list. */
function PlainInput({ query, input, left, onLeave, onNear, onUse }: PlainInputProps) {
  const { input: element } = query;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it may have the focus since before the page's script ran
  useEffect(() => {
    if (document.activeElement === element.current) onUse();
  }, []);
  useLayoutEffect(() => {
    const field = element.current;
    return () => {
      left.current = field && document.activeElement === field ? field.selectionStart : null;
    };
  }, [element, left]);
  return (
    <input
      {...input}
      value={query.text}
      onChange={({ target }) => query.type(target.value)}
      onPointerEnter={onNear}
      onFocus={onUse}
      onKeyDown={(event) => onKeyOfClosed(event, query, onLeave)}
    />
  );
}
