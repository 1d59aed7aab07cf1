import { Autocomplete } from "@base-ui/react/autocomplete";
import { Search } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { rankItems, type SearchGroup, type SearchItem } from "./rank-items.ts";

export type SearchAction = SearchItem & {
  readonly icon?: ReactNode;
  /** At the end of the row. */
  readonly detail?: ReactNode;
  readonly run: () => void;
};

type SearchListProps = {
  /** Accessible name of the text field. */
  label: string;
  placeholder: string;
  groups: readonly SearchGroup<SearchAction>[];
  /** In place of the list when nothing matches. */
  empty: ReactNode;
  /** Called before an entry runs: closes the popup. */
  onDone: () => void;
};

/**
 * A text field above a grouped list that it searches: arrow keys move, Enter runs the highlighted entry. For popups; load
 * it lazily.
 */
export function SearchList({ label, placeholder, groups, empty, onDone }: SearchListProps) {
  const [query, setQuery] = useState("");
  const found = useMemo(() => rankItems(groups, query), [groups, query]);
  return (
    <Autocomplete.Root
      inline
      open
      items={found}
      filter={null}
      value={query}
      onValueChange={setQuery}
      autoHighlight="always"
      itemToStringValue={(item: SearchAction) => item.label}
    >
      <div className="flex items-center gap-2.5 border-b px-3.5">
        <Search className="size-4 shrink-0 text-faint" />
        <Autocomplete.Input
          aria-label={label}
          placeholder={placeholder}
          className="h-11 min-w-0 flex-1 bg-transparent text-base outline-none placeholder:text-faint"
        />
      </div>
      <Autocomplete.Empty className="px-3.5 py-6 text-center text-sm text-muted empty:hidden">
        {empty}
      </Autocomplete.Empty>
      <Autocomplete.List className="scroll-thin min-h-0 flex-1 scroll-py-1.5 overflow-y-auto overscroll-contain p-1.5 empty:hidden">
        {(group: SearchGroup<SearchAction>) => (
          <Autocomplete.Group key={group.label} items={group.items} className="not-last:mb-1.5">
            <Autocomplete.GroupLabel className="px-2 pt-1 pb-1 text-2xs font-medium text-faint">
              {group.label}
            </Autocomplete.GroupLabel>
            <Autocomplete.Collection>
              {(item: SearchAction) => <Row key={item.id} item={item} onDone={onDone} />}
            </Autocomplete.Collection>
          </Autocomplete.Group>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

function Row({ item, onDone }: { item: SearchAction; onDone: () => void }) {
  return (
    <Autocomplete.Item
      value={item}
      onClick={() => {
        onDone();
        item.run();
      }}
      className="flex min-h-8 cursor-default items-center gap-2.5 rounded-md px-2 py-1 text-sm outline-none select-none data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint"
    >
      {item.icon}
      <span className="min-w-0 flex-1 truncate">{item.label}</span>
      {item.detail !== undefined && (
        <span className="max-w-[50%] shrink-0 truncate text-xs text-muted">{item.detail}</span>
      )}
    </Autocomplete.Item>
  );
}
