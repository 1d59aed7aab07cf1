import { type KeyboardEvent, type PointerEvent, useState } from "react";

type Range = { readonly anchor: number; readonly cursor: number };

type BarRangeProps = {
  count: number;
  /** Text of the bar at an index. */
  describe: (at: number) => string;
  /** Where the cursor is; null: nowhere. */
  onCursor: (at: number | null) => void;
  /** The first of the chosen bars, and the one after the last. */
  onRange: (begin: number, end: number) => void;
};

/**
 * Selects adjacent bars of a chart. By pointer: drag, or click one. By keys: arrows move, with Shift they extend, Home
 * and End go to the ends, Enter selects, Escape cancels.
 */
export function BarRange({ count, describe, onCursor, onRange }: BarRangeProps) {
  const [range, setRange] = useState<Range | null>(null);
  const move = (next: Range | null) => {
    setRange(next);
    onCursor(next?.cursor ?? null);
  };
  const choose = ({ anchor, cursor }: Range) => {
    move(null);
    onRange(Math.min(anchor, cursor), Math.max(anchor, cursor) + 1);
  };
  const barOf = (event: PointerEvent) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = Math.floor(((event.clientX - left) / width) * count);
    return Math.min(Math.max(at, 0), count - 1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const cursor = range?.cursor ?? count - 1;
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: range ? cursor - 1 : cursor,
      ArrowRight: cursor + 1,
      Home: 0,
      End: count - 1,
    };
    const target = targets[event.key];
    if (target !== undefined) {
      const next = Math.min(Math.max(target, 0), count - 1);
      move({ cursor: next, anchor: event.shiftKey ? (range?.anchor ?? cursor) : next });
    } else if (event.key === "Enter" && range) choose(range);
    else if (event.key === "Escape" && range) move(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const [begin, end] = range
    ? [Math.min(range.anchor, range.cursor), Math.max(range.anchor, range.cursor) + 1]
    : [0, 0];
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label="Choose a period: arrow keys move, Shift extends, Enter shows it"
      aria-valuemin={0}
      aria-valuemax={count - 1}
      aria-valuenow={range?.cursor ?? count - 1}
      aria-valuetext={range ? textOf(range, describe) : "None chosen"}
      onKeyDown={onKeyDown}
      onBlur={() => range && move(null)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        move({ anchor: barOf(event), cursor: barOf(event) });
      }}
      onPointerMove={(event) => range && event.buttons === 1 && setRange({ ...range, cursor: barOf(event) })}
      onPointerUp={() => range && choose(range)}
      onPointerCancel={() => move(null)}
      className="absolute inset-0 cursor-crosshair touch-pan-y rounded-xs"
    >
      {range ? (
        <span
          className="absolute inset-y-0 border-x border-accent bg-accent-soft"
          style={{ left: `${(begin / count) * 100}%`, width: `${((end - begin) / count) * 100}%` }}
        />
      ) : null}
    </div>
  );
}

const textOf = ({ anchor, cursor }: Range, describe: (at: number) => string): string =>
  anchor === cursor
    ? describe(cursor)
    : `From ${describe(Math.min(anchor, cursor))} to ${describe(Math.max(anchor, cursor))}`;
