import { ArrowDownToLine, ChevronDown, ChevronUp, Search, WrapText } from "lucide-react";
import type { KeyboardEvent, ReactNode } from "react";
import { Input } from "../field.tsx";
import { CopyButton, IconButton } from "../icon-button.tsx";
import type { LogNavigation } from "./use-log-navigation.ts";

/** Search, wrap, follow and copy. `filters` comes first. */
export function LogToolbar({ navigation, filters }: { navigation: LogNavigation; filters?: ReactNode }) {
  const { query, search, step, matches, currentMatch, wrap, following } = navigation;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") search("");
  };
  return (
    <div className="flex flex-wrap items-center gap-1.5 border-b bg-surface px-2 py-1.5">
      {filters}
      <div className="min-w-32 flex-1">
        <Input
          ref={navigation.searchInput}
          type="search"
          aria-label="Search in this log"
          placeholder="Search"
          value={query}
          onChange={(event) => search(event.target.value)}
          onKeyDown={onKeyDown}
          leading={<Search aria-hidden />}
          className="h-7"
        />
      </div>
      <span aria-live="polite" className="tabular text-right text-xs whitespace-nowrap text-muted">
        {query.trim() !== "" && (matches.length === 0 ? "No match" : `${currentMatch + 1} of ${matches.length}`)}
      </span>
      <div className="flex">
        {matches.length > 0 && (
          <>
            <IconButton label="Previous match" size="sm" onClick={() => step(-1)}>
              <ChevronUp aria-hidden />
            </IconButton>
            <IconButton label="Next match" size="sm" onClick={() => step(1)}>
              <ChevronDown aria-hidden />
            </IconButton>
          </>
        )}
        <IconButton label="Wrap long lines" size="sm" onClick={navigation.toggleWrap} aria-pressed={wrap}>
          <WrapText aria-hidden />
        </IconButton>
        <IconButton
          label="Follow new lines"
          size="sm"
          onClick={() => navigation.setFollowing(!following)}
          aria-pressed={following}
        >
          <ArrowDownToLine aria-hidden />
        </IconButton>
        <CopyButton text={() => navigation.plain.join("\n")} label="Copy log" />
      </div>
    </div>
  );
}
