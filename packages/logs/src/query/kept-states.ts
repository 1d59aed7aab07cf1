import type { Conditions } from "./conditions.ts";
import type { KeptState, LogQuery, RequestLogEntry } from "./log-query.schema.ts";
import type { Reader } from "./reader.ts";

const state = `CASE WHEN state = 'waiting' AND expires_at <= now() THEN 'expired' ELSE state END`;

/** As many of the newest calls of a state are found. */
const maxFound = 5000;

/** A condition for the calls whose results are in a state (CAP-2). */
export async function keptCondition(
  reader: Reader,
  { projectId, kept }: LogQuery,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<((conditions: Conditions) => string) | undefined> {
  if (kept === undefined) return undefined;
  const { rows } = await reader.query<{ id: string; startedAt: Date }>(
    `SELECT id, started_at AS "startedAt" FROM kept_call
     WHERE project_id = $1 AND started_at >= $2 AND started_at < $3 AND ${state} = $4
     ORDER BY started_at DESC LIMIT ${maxFound}`,
    [projectId, new Date(from), new Date(to), kept],
  );
  // Their times lead to them by the index of rows.
  return (conditions) =>
    `time = ANY(${conditions.value(rows.map(({ startedAt }) => startedAt))}::timestamptz[])
     AND id = ANY(${conditions.value(rows.map(({ id }) => id))}::uuid[])`;
}

/** The rows with the states of their calls' results. */
export async function withKeptStates<Entry extends RequestLogEntry>(
  reader: Reader,
  entries: Entry[],
): Promise<Entry[]> {
  const calls = entries.filter(({ method }) => method === "tools/call").map(({ id }) => id);
  if (calls.length === 0) return entries;
  const { rows } = await reader.query<{ id: string; state: KeptState }>(
    `SELECT id, ${state} AS state FROM kept_call WHERE id = ANY($1::uuid[]) AND state NOT IN ('running', 'asking')`,
    [calls],
  );
  const states = new Map(rows.map((row) => [row.id, row.state]));
  return entries.map((entry) => ({ ...entry, kept: states.get(entry.id) ?? null }));
}
