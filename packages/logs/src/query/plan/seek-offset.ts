import { asksForCallers, asksForDurations, Conditions, rowCondition } from "../conditions.ts";
import { floorToMinute, spansOf } from "../spans.ts";
import { type Counted, countPeriods, countWithin } from "../sums.ts";
import type { Scope } from "./query-plan.ts";

/** Up to this offset, rows are skipped as they are read. */
const maxSkipped = 100;

/**
 * The rest of a scope after the first `offset` rows of the query, and how many rows of it are still to skip. Sums lead
 * to the minute in which the page begins, if they have the query's filters.
 */
export async function seekOffset(scope: Scope): Promise<{ readonly scope: Scope; readonly skip: number }> {
  const { reader, query, period } = scope;
  const { offset, cursor, search } = query;
  const isSummed =
    !search && cursor === undefined && query.kept === undefined && !asksForCallers(query) && !asksForDurations(query);
  if (offset <= maxSkipped || !isSummed) return { scope, skip: offset };
  const lastMinute = floorToMinute(period.to);
  const edge = lastMinute === period.to ? 0 : await countSince(scope, lastMinute, offset + 1);
  if (edge > offset) return { scope, skip: offset };
  const counts = await countPeriods(reader, query, spansOf(floorToMinute(period.from), lastMinute));
  if (!counts.isExact) return { scope, skip: offset };
  let place = skipPeriods(counts.periods, offset - edge);
  while (place.at && place.at.level > 0) place = skipPeriods(await countWithin(reader, query, [place.at]), place.skip);
  return { scope: { ...scope, period: { from: period.from, to: place.at?.to ?? period.from } }, skip: place.skip };
}

/** The period of the row after `offset` others, and how many of these it contains; null: there is none. */
function skipPeriods(periods: readonly Counted[], offset: number): { at: Counted | null; skip: number } {
  let skip = offset;
  for (const at of periods) {
    if (at.matching > skip) return { at, skip };
    skip -= at.matching;
  }
  return { at: null, skip };
}

/** Counts matching rows, up to `max`, from the minute in whose middle the period ends: sums have whole minutes only. */
async function countSince({ reader, query, period }: Scope, minute: number, max: number): Promise<number> {
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const from = conditions.value(new Date(Math.max(period.from, minute)));
  const { rows } = await reader.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (SELECT FROM request_log WHERE project_id = ${project} AND time >= ${from}
       AND time < ${conditions.value(new Date(period.to))} AND ${rowCondition(query, conditions)} LIMIT ${max}) AS rows`,
    conditions.values,
  );
  return rows[0]?.count ?? 0;
}
