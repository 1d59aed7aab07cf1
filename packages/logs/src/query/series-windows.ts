import type { Pool } from "pg";
import type { LogQuery } from "./log-query.schema.ts";
import { type Counted, countPeriods, countWithin, floorToMinute, minuteMs, openEnd, spansOf } from "./sums.ts";

/** A period [from, to) in milliseconds; `to` null: open. */
export type Window = { from: number; to: number | null };
export type Location = {
  /** Periods that contain the wanted rows, newest first. */
  windows: Window[];
  /** How many matching rows to skip at the start of the windows. */
  skip: number;
  /** True when no matching row lies outside the windows. */
  isWhole: boolean;
};

/** Roughly how many rows a query may scan to find those of a page. */
const maxScanned = 4000;

/**
 * Uses the roll-ups to find the periods that contain rows `offset` to `offset + need` of a query, newest first, so that
 * PostgreSQL doesn't scan every earlier row for a deep page or a rare tool. A search is located by method and target
 * only.
 *
 * @param edge how many rows match in the last minute, when the query ends within that minute
 */
export async function locateRows(
  pool: Pool,
  query: LogQuery,
  period: Window & { now: number },
  page: { offset: number; need: number; edge: number },
): Promise<Location> {
  const end = period.to === null ? openEnd(period.now) : floorToMinute(period.to);
  const { periods, isExact } = await countPeriods(pool, query, spansOf(floorToMinute(period.from), end));
  const edge = edgeOf(period, page.edge);
  let tiles = edge ? [edge, ...periods] : periods;
  // Overflow series make counts too high, so don't skip rows without reading them.
  let skip = isExact ? page.offset : 0;
  const kept = page.offset - skip;
  let isWhole = true;
  for (;;) {
    const picked = pick(tiles, skip, page.need + kept);
    skip = picked.skip;
    isWhole &&= picked.isWhole;
    const share = maxScanned / picked.tiles.length;
    const costly = picked.tiles.filter(
      (tile, at) => tile.level > 0 && scanned(tile, at === 0 ? skip : 0, page.need + kept) > share,
    );
    if (costly.length === 0) {
      return { windows: windowsOf(picked.tiles, period), skip: skip + kept, isWhole };
    }
    const finer = await countWithin(pool, query, costly);
    tiles = [...picked.tiles.filter((tile) => !costly.includes(tile)), ...finer].sort((a, b) => b.from - a.from);
  }
}

function edgeOf({ to }: Window, matching: number): Counted | null {
  if (to === null || matching === 0) return null;
  const from = floorToMinute(to);
  return { level: 0, from, to: from + minuteMs, matching, total: matching };
}

function pick(tiles: readonly Counted[], offset: number, need: number) {
  let skip = offset;
  let found = 0;
  let at = 0;
  while (at < tiles.length && skip >= (tiles[at]?.matching ?? 0)) skip -= tiles[at++]?.matching ?? 0;
  const first = at;
  while (at < tiles.length && found < need + skip) found += tiles[at++]?.matching ?? 0;
  return { tiles: tiles.slice(first, at), skip, isWhole: at === tiles.length };
}

/** Estimate of the rows to scan in a period to find the wanted ones. */
function scanned({ total, matching }: Counted, skip: number, need: number): number {
  return (total / matching) * Math.min(matching, skip + need);
}

/** Merges adjacent periods into windows, clipped to the query's period. */
function windowsOf(tiles: readonly Counted[], period: Window): Window[] {
  const windows: Window[] = [];
  for (const tile of tiles) {
    const last = windows.at(-1);
    const from = Math.max(tile.from, period.from);
    if (last && last.from === tile.to) last.from = from;
    else windows.push({ from, to: period.to === null ? tile.to : Math.min(tile.to, period.to + 1) });
  }
  return windows;
}
