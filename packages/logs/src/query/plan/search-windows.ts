import { searchedColumns, searchPattern } from "../conditions.ts";
import { searchedCallers } from "./caller-windows.ts";
import { isWhole, type QueryPlan, type Scope, unfoldedRows, unionOf } from "./query-plan.ts";
import { summedWindows } from "./series-windows.ts";

/** The parts of a search, and the columns in which each finds rows. */
const parts = [
  { locate: summedWindows, columns: ["method", "target"] },
  { locate: searchedCallers, columns: ["client_name", "session", "principal"] },
  { locate: messageWindows, columns: ["error_message"] },
  { locate: unfoldedRows, columns: searchedColumns },
] as const;

/**
 * Finds rows of a search. The text is compared with names, which are stored once each (series, callers, error messages)
 * and lead to the periods of their rows. A text in no name costs no row.
 */
export async function searchWindows(scope: Scope, count: number): Promise<QueryPlan | null> {
  if (!scope.query.search) return null;
  const plans = await Promise.all(parts.map(({ locate }) => locate(scope, count)));
  // If a part finds nothing at all, no row has the text in its columns: testing them costs more than reading.
  const isEmpty = (plan: QueryPlan) => plan.windows.length === 0 && isWhole(plan, scope.period);
  const searched = parts.flatMap(({ columns }, at) => (isEmpty(plans[at] as QueryPlan) ? [] : columns));
  return { ...unionOf(plans, scope.period), searched: [...new Set(searched)] };
}

/** Finds rows whose error message contains the search, by an index of the messages. */
async function messageWindows({ reader, query, period }: Scope, count: number): Promise<QueryPlan> {
  const [from, to] = [new Date(period.from), new Date(period.to)];
  const messages = await reader.query<{ id: string }>(
    `SELECT id FROM request_log_message WHERE project_id = $1 AND last_seen >= date_bin('1 minute', $2, 'epoch')
       AND (id = 0 OR search_text COLLATE "C" LIKE lower($3))`,
    [query.projectId, from, searchPattern(query.search ?? "")],
  );
  const ids = messages.rows.map(({ id }) => id);
  if (ids.length === 0) return { windows: [], since: period.from };
  // Messages beyond the daily limit aren't stored: any row with a message may match.
  const isAny = ids.includes("0");
  const { rows } = await reader.query<{ time: Date }>(
    `SELECT r.time FROM unnest($5::bigint[]) AS message (id) CROSS JOIN LATERAL (
       SELECT time FROM request_log WHERE project_id = $1 AND time >= $2 AND time < $3 AND error_message IS NOT NULL
         ${isAny ? "" : "AND hashtextextended(error_message, 0) = message.id"} ORDER BY time DESC LIMIT $4) AS r
     ORDER BY time DESC LIMIT $4`,
    [query.projectId, from, to, count, isAny ? ["0"] : ids],
  );
  return {
    windows: rows.map(({ time }) => ({ from: time.getTime(), to: time.getTime() + 1 })),
    since: rows.length < count ? period.from : (rows.at(-1)?.time.getTime() ?? period.from),
  };
}
