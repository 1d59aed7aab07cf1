import { asksForCallers, asksForSums, Conditions, clientNameCondition, searchPattern } from "../conditions.ts";
import type { LogQuery } from "../log-query.schema.ts";
import { type QueryPlan, type Scope, unfoldedRows, unionOf } from "./query-plan.ts";

/** A project's latest slots are scanned before an index is used: they include every frequent caller. */
const maxRecentSlots = 1000;
/** With more callers than these, sums by name locate rows better. */
const maxCallers = 2000;

/** A condition on a row of `request_log_caller` with the alias `c`. */
type CallerCondition = (query: LogQuery, conditions: Conditions) => string;

/** Finds rows of a client, a session or users, regardless of what they called. */
export async function callerWindows(scope: Scope, count: number): Promise<QueryPlan | null> {
  const { query, period } = scope;
  if (!asksForCallers(query)) return null;
  if (query.principals?.length === 0) return { windows: [], since: period.from };
  if (asksForSums(query) && (await areMany(scope))) return null;
  return unionOf(await Promise.all([slotsOf(scope, count, callerCondition), unfoldedRows(scope)]), period);
}

/** Finds rows whose session, principal or client name contains the search. */
export const searchedCallers = (scope: Scope, count: number): Promise<QueryPlan> =>
  slotsOf(scope, count, (query, conditions) =>
    [contains(query.search ?? "", conditions), callerCondition(query, conditions)].join(" AND "),
  );

const contains = (text: string, conditions: Conditions) =>
  `c.search_text COLLATE "C" LIKE lower(${conditions.value(searchPattern(text))})`;

/** The substring finds callers in the index, the comparison selects the exact ones. */
function callerCondition({ session, clientName, principals }: LogQuery, conditions: Conditions): string {
  const all: string[] = [];
  if (session !== undefined) all.push(contains(session, conditions), `c.session = ${conditions.value(session)}`);
  if (clientName !== undefined)
    all.push(contains(clientName, conditions), clientNameCondition("c", clientName, conditions));
  // Has an index of its own: most users' names share the trigrams of a user's name.
  if (principals !== undefined) all.push(`c.principal = ANY(${conditions.value(principals)}::text[])`);
  return all.join(" AND ") || "true";
}

async function areMany({ reader, query }: Scope): Promise<boolean> {
  const conditions = new Conditions();
  const { rowCount } = await reader.query(
    `SELECT FROM request_log_caller AS c WHERE project_id = ${conditions.value(query.projectId)}
       AND ${callerCondition(query, conditions)} LIMIT 1 OFFSET ${maxCallers}`,
    conditions.values,
  );
  return rowCount === 1;
}

/** The calls of a caller in ten minutes; null if there are none. `since`: complete from there on; null: complete. */
type Slot = { first: Date | null; last: Date | null; calls: number | null; since: Date | null };

async function slotsOf(scope: Scope, count: number, matches: CallerCondition): Promise<QueryPlan> {
  const recent = await readSlots(scope, recentSlots(matches));
  const hasEnough = recent.reduce((calls, slot) => calls + (slot.calls ?? 0), 0) >= count;
  const slots = hasEnough ? recent : await readSlots(scope, slotsOfMatches(matches, count));
  const windows = slots.flatMap(({ first, last }) => (first && last ? [{ from: +first, to: +last + 1 }] : []));
  return unionOf([{ windows, since: slots[0]?.since?.getTime() ?? scope.period.from }], scope.period);
}

type SlotsSql = (query: LogQuery, conditions: Conditions, place: Place) => string;
/** SQL expressions. */
type Place = { readonly project: string; readonly from: string; readonly to: string };

async function readSlots({ reader, query, period }: Scope, sql: SlotsSql): Promise<readonly Slot[]> {
  const conditions = new Conditions();
  const time = (ms: number) => `${conditions.value(new Date(ms))}::timestamptz`;
  const place = { project: conditions.value(query.projectId), from: time(period.from), to: time(period.to) };
  const { rows } = await reader.query<Slot>(sql(query, conditions, place), conditions.values);
  return rows;
}

/** The latest slots of the period whose caller matches. */
const recentSlots =
  (matches: CallerCondition): SlotsSql =>
  (query, conditions, { project, from, to }) =>
    `
    WITH latest AS MATERIALIZED (
      SELECT time, caller_id, first_seen, last_seen, calls FROM request_log_caller_slot
      WHERE project_id = ${project} AND time >= date_bin('10 minutes', ${from}, 'epoch') AND time < ${to}
      ORDER BY time DESC LIMIT ${maxRecentSlots})
    SELECT l.first_seen AS first, l.last_seen AS last, l.calls,
      (SELECT min(time) + interval '10 minutes' FROM latest HAVING count(*) = ${maxRecentSlots}) AS since
    FROM latest l JOIN request_log_caller c ON c.project_id = ${project} AND c.id = l.caller_id
    WHERE c.is_overflow OR (${matches(query, conditions)})`;

/**
 * The newest slots of matching callers, at most `count`. Of many callers only the latest are read: the result is
 * complete since the earliest of their last calls.
 */
const slotsOfMatches =
  (matches: CallerCondition, count: number): SlotsSql =>
  (query, conditions, { project, from, to }) => {
    const maxFound = Math.max(count, maxCallers);
    return `
    WITH matching AS MATERIALIZED (
      SELECT id, first_seen, last_seen, last_slot FROM request_log_caller AS c
      WHERE project_id = ${project} AND ${matches(query, conditions)}
      UNION ALL
      -- Callers beyond the daily limit, whose names aren't stored.
      SELECT id, first_seen, last_seen, last_slot FROM request_log_caller
      WHERE project_id = ${project} AND id = 0 AND is_overflow
    ), found AS MATERIALIZED (
      SELECT * FROM matching WHERE last_seen >= ${from} AND first_seen < ${to} ORDER BY last_slot DESC LIMIT ${maxFound}
    ), slots AS MATERIALIZED (
      SELECT s.* FROM found CROSS JOIN LATERAL (
        SELECT time, first_seen, last_seen, calls FROM request_log_caller_slot
        WHERE project_id = ${project} AND caller_id = found.id AND time < ${to}
          AND time >= date_bin('10 minutes', ${from}, 'epoch')
          -- So that slots are looked for in the partitions of the caller's days only.
          AND time >= found.first_seen - interval '10 minutes' AND time <= found.last_seen
        -- Keeps PostgreSQL from joining with all slots.
        OFFSET 0) AS s
      ORDER BY s.time DESC LIMIT ${count})
    SELECT first_seen AS first, last_seen AS last, calls, since FROM (SELECT greatest(
        (SELECT min(last_slot) + interval '10 minutes' FROM found HAVING count(*) = ${maxFound}),
        (SELECT min(time) + interval '10 minutes' FROM slots HAVING count(*) = ${count})) AS since) AS looked
      LEFT JOIN slots ON true`;
  };
