import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import type { LogLine } from "./log-line.ts";
import { LogRow } from "./log-row.tsx";
import { LogToolbar } from "./log-toolbar.tsx";
import { handleLogKey, type LogNavigation, useLogNavigation } from "./use-log-navigation.ts";

/**
 * Shows a log of any length, rendering only the lines in view. It follows new lines until the user scrolls up. Keys: `/`
 * searches, `n` and `N` go to the next and previous match, `g` and `G` to the first and last line, `w` toggles wrapping,
 * arrow and page keys scroll. `#L12` in the URL opens line 12.
 */
export function LogViewer({
  lines,
  label,
  live = false,
  filters,
  empty,
  className,
}: {
  lines: readonly LogLine[];
  label: string;
  /** More lines may come, so follow the end from the start. */
  live?: boolean;
  filters?: ReactNode;
  empty?: ReactNode;
  className?: string;
}) {
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
