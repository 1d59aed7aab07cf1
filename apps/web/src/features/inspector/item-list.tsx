import { Search } from "lucide-react";
import { useState } from "react";
import { classNames } from "~/ui/class-names.ts";
import { Input } from "~/ui/field.tsx";
import { filterItems, type InspectorItem, itemTexts } from "./inspector-items.ts";

const searchableFrom = 8;

/** The items of a tab to choose from; long lists can be filtered. */
export function ItemList({
  items,
  chosen,
  onChoose,
  label,
}: {
  items: readonly InspectorItem[];
  chosen: InspectorItem;
  onChoose: (item: InspectorItem) => void;
  label: string;
}) {
  const [text, setText] = useState("");
  const shown = filterItems(items, text);
  return (
    <div className="flex min-h-0 flex-col rounded-lg border bg-surface">
      {items.length >= searchableFrom && (
        <div className="border-b p-1.5">
          <Input
            type="search"
            aria-label={`Filter ${label}`}
            placeholder={`Filter ${items.length} ${label}`}
            value={text}
            onChange={(event) => setText(event.target.value)}
            leading={<Search aria-hidden />}
            className="h-7"
          />
        </div>
      )}
      <ul aria-label={label} className="scroll-thin max-h-56 overflow-y-auto p-1.5 lg:max-h-[calc(100dvh-20rem)]">
        {shown.map((item) => {
          const { name, description, title } = itemTexts(item);
          const isChosen = item.key === chosen.key;
          return (
            <li key={item.key}>
              <button
                type="button"
                aria-current={isChosen || undefined}
                onClick={() => onChoose(item)}
                className={classNames(
                  "block w-full rounded-md px-2 py-1.5 text-left -outline-offset-2 hover:bg-hover",
                  isChosen && "bg-accent-soft hover:bg-accent-soft",
                )}
              >
                <code className={classNames("block truncate text-xs font-medium", isChosen && "text-accent-text")}>
                  {name}
                </code>
                {(description || title) && (
                  <span className="block truncate text-xs text-muted">{(description || title)?.split("\n", 1)[0]}</span>
                )}
              </button>
            </li>
          );
        })}
        {shown.length === 0 && <li className="px-2 py-3 text-center text-sm text-muted">Nothing matches.</li>}
      </ul>
    </div>
  );
}
