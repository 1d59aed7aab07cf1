import type { Pool } from "pg";
import { endOf, type Found, notFolded, type Period, unionOf } from "./query-plan.ts";
import { Conditions, clientNameCondition, searchPattern } from "./conditions.ts";
import type { LogQuery } from "./log-query.schema.ts";
import { nameCondition } from "./sums.ts";

const slotMs = 600_000;
const maxRecentSlots = 1000;
/** Of more callers than these, slots aren't looked up one by one for names that were called. */
const maxCallers = 2000;
/** All slots of so many callers are found faster than their latest ones among those of all callers. */
const maxFewCallers = 5000;
/** With more series than these, they don't say where rows are. */
const maxSeries = 200;

/** A condition on a row of `request_log_caller` with the given alias. */
type CallerCondition = (conditions: Conditions, alias: string) => string;

type Slot = { time: Date; first: Date; last: Date; calls: number };
/** `since`: complete from there on; null: complete. */
type Slots = { rows: Slot[]; since: Date | null };

/** The search's part that looks through callers: sessions, principals and names of clients. */
export async function searchCallers(pool: Pool, query: LogQuery, period: Period, wanted: number): Promise<Found> {
  const matches: CallerCondition = (conditions, c) =>
    [contains(query.search ?? "", conditions, c), callerCondition(query, conditions, c)].filter(Boolean).join(" AND ");
  return newestOf(await newestSlots(pool, query, period, wanted, matches), wanted);
}

/** Whether a query asks for a client, a session or users. */
export const asksForCallers = (query: LogQuery): boolean =>
  query.clientName !== undefined || query.session !== undefined || query.principals !== undefined;

/** Whether roll-ups by name say where a query's rows are. That most of the protocol is left out doesn't. */
export const asksForSeries = (query: LogQuery): boolean =>
  [query.deploymentIds, query.deploymentId, query.httpMethod, query.jsonrpcMethod].some(Boolean) ||
  [
    query.methodPrefix,
    query.toolName,
    query.target,
    query.uriTemplate,
    query.hasFailed,
    query.isError,
    query.isRefused,
  ].some((value) => value !== undefined);

/**
 * Finds the periods that can contain the newest `wanted` calls of the clients, the session or the users that a query asks
 * for, and of the methods and deployments that it asks for besides.
 *
 * @returns null when so many callers match that the roll-ups by name say better where the rows are
 */
export async function callerWindows(
  pool: Pool,
  query: LogQuery,
  period: Period,
  wanted: number,
): Promise<Found | null> {
  if (query.principals?.length === 0) return { windows: [], since: null };
  const matches: CallerCondition = (conditions, c) => callerCondition(query, conditions, c);
  const [slots, unfolded] = await Promise.all([
    slotsOfFilter(pool, query, period, wanted, matches),
    notFolded(pool, query),
  ]);
  return slots && unionOf([newestOf(slots, wanted), unfolded], period);
}

async function slotsOfFilter(
  pool: Pool,
  query: LogQuery,
  period: Period,
  wanted: number,
  matches: CallerCondition,
): Promise<Slots | null> {
  if (!asksForSeries(query)) return newestSlots(pool, query, period, wanted, matches);
  if (await areMany(pool, query, matches, maxCallers)) return null;
  return slotsOfMatches(pool, query, period, wanted, matches, true);
}

/** Whatever was called. */
async function newestSlots(
  pool: Pool,
  query: LogQuery,
  period: Period,
  wanted: number,
  matches: CallerCondition,
): Promise<Slots> {
  const ofFew = async () => {
    if (query.principals === undefined) return false;
    const { principals } = query;
    return !(await areMany(pool, query, (all, c) => callerCondition({ principals }, all, c), maxFewCallers));
  };
  // An index finds a rare text fast, but all callers of a frequent one, of which the recent ones are enough.
  if (!(await ofFew())) {
    const recent = await recentSlots(pool, query, period, matches);
    if (isEnough(recent, wanted)) return recent;
  }
  return slotsOfMatches(pool, query, period, wanted, matches, false);
}

function contains(text: string, conditions: Conditions, c: string): string {
  return `${c}.search_text COLLATE "C" LIKE lower(${conditions.value(searchPattern(text))})`;
}

/** The part of a text finds the rows in the index, the comparison those that are meant. */
function callerCondition(
  query: Pick<LogQuery, "session" | "clientName" | "principals">,
  conditions: Conditions,
  c: string,
): string {
  const all: string[] = [];
  const { session, clientName, principals } = query;
  if (session !== undefined) all.push(contains(session, conditions, c), `${c}.session = ${conditions.value(session)}`);
  if (clientName !== undefined)
    all.push(contains(clientName, conditions, c), clientNameCondition(c, clientName, conditions));
  // Has an index of its own: the parts of a user's name are those of most other users' names.
  if (principals !== undefined) all.push(`${c}.principal = ANY(${conditions.value(principals)}::text[])`);
  return all.join(" AND ");
}

const isEnough = ({ rows }: Slots, wanted: number) => rows.reduce((calls, row) => calls + row.calls, 0) >= wanted;

function newestOf({ rows, since: seen }: Slots, wanted: number): Found {
  let calls = 0;
  const slot = rows.find((row) => {
    calls += row.calls;
    return calls >= wanted;
  });
  const used = slot ? rows.filter((row) => row.time >= slot.time) : rows;
  // More callers of the last slot may have been cut off.
  const isCut = rows.length >= wanted && used.length === rows.length;
  const since = [...(slot ? [slot.time.getTime() + (isCut ? slotMs : 0)] : []), ...(seen ? [seen.getTime()] : [])];
  return {
    windows: used.map((row) => ({ from: row.first.getTime(), to: row.last.getTime() + 1 })),
    since: since.length > 0 ? Math.max(...since) : null,
  };
}

async function areMany(pool: Pool, query: LogQuery, matches: CallerCondition, max: number): Promise<boolean> {
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const { rowCount } = await pool.query(
    `SELECT FROM request_log_caller AS c WHERE project_id = ${project} AND ${matches(conditions, "c")}
     LIMIT 1 OFFSET ${max}`,
    conditions.values,
  );
  return rowCount === 1;
}

/** Slots whose caller matches, of the last slots of the period. */
async function recentSlots(
  pool: Pool,
  query: LogQuery,
  { from, to }: Period,
  matches: CallerCondition,
): Promise<Slots> {
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const first = conditions.value(new Date(from));
  const last = conditions.value(endOf(to));
  const { rows } = await pool.query<Slot & { since: Date | null }>(
    `WITH looked AS MATERIALIZED (
       SELECT time, caller_id, first_seen, last_seen, calls FROM request_log_caller_slot
       WHERE project_id = ${project} AND time >= date_bin('10 minutes', ${first}, 'epoch') AND time <= ${last}
       ORDER BY time DESC LIMIT ${maxRecentSlots})
     SELECT l.time, l.first_seen AS first, l.last_seen AS last, l.calls,
       (SELECT min(time) + interval '10 minutes' FROM looked HAVING count(*) = ${maxRecentSlots}) AS since
     FROM looked l JOIN request_log_caller c ON c.project_id = ${project} AND c.id = l.caller_id
     WHERE c.is_overflow OR (${matches(conditions, "c")}) ORDER BY l.time DESC`,
    conditions.values,
  );
  return { rows, since: rows[0]?.since ?? null };
}

/**
 * Slots of all callers that match, newest first; `withSeries`: of those in which names that the query asks for were
 * called. In a period without an end, the newest `wanted` calls belong to the `wanted` most recently seen callers, so
 * the slots of others aren't read.
 */
async function slotsOfMatches(
  pool: Pool,
  query: LogQuery,
  { from, to }: Period,
  wanted: number,
  matches: CallerCondition,
  withSeries: boolean,
): Promise<Slots> {
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const first = conditions.value(new Date(from));
  const last = conditions.value(endOf(to));
  const limit = conditions.value(wanted);
  const callers = conditions.value(to === null && !withSeries ? wanted : null);
  const { rows } = await pool.query<Slot & { since: Date | null }>(
    `WITH ${withSeries ? seriesSql(query, conditions, project) : ""} matching AS MATERIALIZED (
       SELECT id, first_seen, last_seen, last_slot FROM request_log_caller AS c
       WHERE project_id = ${project} AND ${matches(conditions, "c")}
       UNION ALL
       -- Callers beyond the daily limit, whose names aren't stored.
       SELECT id, first_seen, last_seen, last_slot FROM request_log_caller
       WHERE project_id = ${project} AND id = 0 AND is_overflow
     ), found AS MATERIALIZED (
       SELECT * FROM matching WHERE last_seen >= ${first} AND first_seen <= ${last} ORDER BY last_slot DESC LIMIT ${callers})
     SELECT s.*,
       (SELECT min(last_slot) + interval '10 minutes' FROM found HAVING count(*) = ${callers}) AS since
     FROM found CROSS JOIN LATERAL (
       SELECT time, first_seen AS first, last_seen AS last, calls FROM request_log_caller_slot AS own
       WHERE project_id = ${project} AND caller_id = found.id
         AND time >= date_bin('10 minutes', ${first}, 'epoch') AND time <= ${last}
         -- So that slots are looked for in the partitions of the caller's days only.
         AND time >= found.first_seen - interval '10 minutes' AND time <= found.last_seen
         ${withSeries ? wasCalled(project) : ""}
       -- Keeps PostgreSQL from joining with all slots.
       OFFSET 0) AS s
     ORDER BY s.time DESC LIMIT ${limit}`,
    conditions.values,
  );
  return { rows, since: rows[0]?.since ?? null };
}

/** CTE `series`: no row when too many match. */
const seriesSql = (query: LogQuery, conditions: Conditions, project: string) => `
  series AS MATERIALIZED (
    SELECT coalesce(array_agg(id), '{}') AS ids FROM (SELECT id FROM request_log_series AS k
      WHERE project_id = ${project} AND ${nameCondition({ ...query, search: undefined }, conditions, "k")}
      LIMIT ${maxSeries + 1}) AS few HAVING count(*) <= ${maxSeries}),`;

const wasCalled = (project: string) => `
  AND ((SELECT ids FROM series) IS NULL OR EXISTS (
    SELECT FROM request_log_ten_minutes AS t WHERE t.project_id = ${project} AND t.time = own.time
      AND t.series_id = ANY((SELECT ids FROM series)::bigint[])))`;
