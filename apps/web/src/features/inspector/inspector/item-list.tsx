import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { classNames } from "~/ui/class-names.ts";
import { Input } from "~/ui/field.tsx";
import { filterItems, type InspectorItem, itemTexts } from "./inspector-items.ts";
import { moveInList } from "./list-navigation.ts";

type ItemListProps = {
  items: readonly InspectorItem[];
  /** Null: none of them. */
  chosen: InspectorItem | null;
  onChoose: (item: InspectorItem) => void;
  label: string;
};

/** The items of a tab: one tab stop; arrow keys, Home and End move; typing filters. */
export function ItemList({ items, chosen, onChoose, label }: ItemListProps) {
  const [text, setText] = useState("");
  const filter = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const shown = filterItems(items, text);
  const chosenAt = shown.findIndex(({ key }) => key === chosen?.key);
  const focusAt = (at: number) => list.current?.querySelectorAll<HTMLElement>("[role=option]")[at]?.focus();

  const onKeyDown = (event: KeyboardEvent, at: number) => {
    const move = moveInList(event, at, shown.length);
    if (move === null) return;
    event.preventDefault();
    if ("type" in move) {
      setText((before) => before + move.type);
      filter.current?.focus();
      return;
    }
    focusAt(move.to);
    const item = shown[move.to];
    if (item) onChoose(item);
  };
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, []);

  return (
    <div className="flex min-h-0 flex-col">
      <div className="border-b p-1.5">
        <Input
          ref={filter}
          type="search"
          aria-label={`Filter ${label}`}
          placeholder={`Filter ${label}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && text !== "") setText("");
            if (event.key === "ArrowDown") onKeyDown(event, -1);
          }}
          leading={<Search />}
          className="h-7"
        />
      </div>
      {shown.length > 0 && (
        <div
          ref={list}
          role="listbox"
          aria-label={label}
          className="scroll-thin min-h-0 overflow-y-auto p-1.5 max-lg:max-h-52"
        >
          {shown.map((item, at) => {
            const { name, description, title } = itemTexts(item);
            const isChosen = at === chosenAt;
            return (
              <div
                key={item.key}
                role="option"
                aria-selected={isChosen}
                tabIndex={isChosen || (chosenAt === -1 && at === 0) ? 0 : -1}
                onClick={() => onChoose(item)}
                onKeyDown={(event) => {
                  const isChoice = (event.key === "Enter" || event.key === " ") && !event.ctrlKey && !event.metaKey;
                  if (isChoice) {
                    event.preventDefault();
                    onChoose(item);
                  } else onKeyDown(event, at);
                }}
                className={classNames(
                  "block w-full cursor-default rounded-md px-2 py-1.5 text-left -outline-offset-2 hover:bg-hover",
                  isChosen && "bg-accent-soft hover:bg-accent-soft",
                )}
              >
                <code className={classNames("block truncate text-xs font-medium", isChosen && "text-accent-text")}>
                  {name}
                </code>
                {(description || title) && (
                  <span className="block truncate text-xs text-muted">{(description || title)?.split("\n", 1)[0]}</span>
                )}
              </div>
            );
          })}
        </div>
      )}
      {shown.length === 0 && <p className="px-2 pb-3 text-center text-sm text-muted">Nothing matches.</p>}
    </div>
  );
}
