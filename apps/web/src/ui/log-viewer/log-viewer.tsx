import { ArrowDownToLine, ChevronDown, ChevronUp, Search, WrapText } from "lucide-react";
import type { KeyboardEvent, ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { Input } from "../field.tsx";
import { CopyButton, IconButton } from "../icon-button.tsx";
import type { LogLine } from "./log-line.ts";
import { LogRow } from "./log-row.tsx";
import { handleLogKey, type LogNavigation, useLogNavigation } from "./use-log-navigation.ts";

type LogViewerProps = {
  lines: readonly LogLine[];
  label: string;
  /** More lines may come, so follow the end from the start. */
  live?: boolean;
  filters?: ReactNode;
  empty?: ReactNode;
  className?: string;
};

/**
 * Shows a log of any length, rendering only the lines in view. It follows new lines until the user scrolls up. Keys: `/`
 * searches, `n` and `N` go to the next and previous match, `g` and `G` to the first and last line, `w` toggles wrapping,
 * arrow and page keys scroll. `#L12` in the URL opens line 12.
 */
export function LogViewer({ lines, label, live = false, filters, empty, className }: LogViewerProps) {
  const navigation = useLogNavigation(lines, live);
  return (
    <div className={classNames("flex min-h-0 min-w-0 flex-col overflow-hidden rounded-lg border bg-sunken", className)}>
      <LogToolbar navigation={navigation} filters={filters} />
      <section
        ref={navigation.scroller}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard (WCAG 2.1.1)
        tabIndex={0}
        onKeyDown={(event) => handleLogKey(event, navigation)}
        onWheel={navigation.afterScroll}
        onTouchMove={navigation.afterScroll}
        onPointerUp={navigation.afterScroll}
        onKeyUp={navigation.afterScroll}
        className="scroll-thin min-h-0 flex-1 overflow-auto py-2 font-mono text-xs -outline-offset-2"
      >
        {lines.length === 0 ? empty : <LogRows lines={lines} navigation={navigation} />}
      </section>
    </div>
  );
}

function LogRows({ lines, navigation }: { lines: readonly LogLine[]; navigation: LogNavigation }) {
  const { virtual, wrap, query, linkedId, matches, currentMatch } = navigation;
  return (
    <div className="relative" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => {
        const line = lines[item.index];
        if (!line) return null;
        return (
          <div
            key={item.key}
            ref={virtual.measureElement}
            data-index={item.index}
            className={classNames("absolute top-0 left-0", wrap ? "w-full" : "w-max min-w-full")}
            style={{ transform: `translateY(${item.start}px)` }}
          >
            <LogRow
              line={line}
              query={query}
              wrap={wrap}
              linked={line.id === linkedId}
              current={matches[currentMatch] === item.index}
            />
          </div>
        );
      })}
    </div>
  );
}

/** Search, wrap, follow and copy. `filters` comes first. */
function LogToolbar({ navigation, filters }: { navigation: LogNavigation; filters?: ReactNode }) {
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
          leading={<Search />}
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
              <ChevronUp />
            </IconButton>
            <IconButton label="Next match" size="sm" onClick={() => step(1)}>
              <ChevronDown />
            </IconButton>
          </>
        )}
        <IconButton label="Wrap long lines" size="sm" onClick={navigation.toggleWrap} aria-pressed={wrap}>
          <WrapText />
        </IconButton>
        <IconButton
          label="Follow new lines"
          size="sm"
          onClick={() => navigation.setFollowing(!following)}
          aria-pressed={following}
        >
          <ArrowDownToLine />
        </IconButton>
        <CopyButton text={() => navigation.plain.join("\n")} label="Copy log" />
      </div>
    </div>
  );
}
