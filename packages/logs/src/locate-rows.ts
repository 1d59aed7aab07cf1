import type { Pool } from "pg";
import type { LogQuery } from "./log-query.schema.ts";
import { type Counted, countPeriods, countWithin, floorToMinute, minuteMs, openEnd, spansOf } from "./rollups.ts";

/** A period [from, to) in milliseconds; `to` null: open. */
export type Window = { from: number; to: number | null };
export type Location = {
  /** Periods that have the wanted rows, newest first. */
  windows: Window[];
  /** Matching rows of the windows to pass over. */
  skip: number;
  /** Whether there is no matching row beyond the windows. */
  isWhole: boolean;
};

/** About how many rows a query may read past in order to find those of a page. */
const maxScanned = 4000;

/**
 * Finds out from the roll-ups in which periods the rows `offset` to `offset + need` of a query are, newest first, so
 * that neither a deep page nor a rare tool makes PostgreSQL read all of the rows before. A search is located by
 * methods and targets only.
 *
 * @param edge the matching rows of a last minute of which the query wants only a part
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
  // Where names are missing a count may be too high: then nothing is passed over unread.
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

/** How many rows of a period are read, about, to find those that are wanted of it. */
function scanned({ total, matching }: Counted, skip: number, need: number): number {
  return (total / matching) * Math.min(matching, skip + need);
}

/** Neighbouring periods as one window, cut to what the query wants. */
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
