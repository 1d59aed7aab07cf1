import { Conditions } from "../conditions.ts";
import { timeRangeMs } from "../log-search.ts";
import type { Reader } from "../reader.ts";
import {
  type ActivityPage,
  isBigint,
  type SessionEntry,
  type SessionListInput,
  sessionListSchema,
} from "./session-query.schema.ts";

export type SessionRow = {
  key: string;
  firstSeen: Date;
  lastSeen: Date;
  session: string | null;
  principal: string;
  clientName: string | null;
  clientVersion: string | null;
  protocolVersion: string | null;
  deploymentId: string | null;
  calls: string;
  errors: string;
};

const columns = `key, first_seen AS "firstSeen", last_seen AS "lastSeen", session, principal, client_name AS "clientName",
  client_version AS "clientVersion", protocol_version AS "protocolVersion", deployment_id AS "deploymentId",
  calls, errors`;

/**
 * A page of a project's sessions, most recently active first (PRJ-6, LOG-1).
 *
 * @throws ZodError for invalid input. The caller has checked access to the project.
 */
export async function listSessions(reader: Reader, input: SessionListInput): Promise<ActivityPage<SessionEntry>> {
  const query = sessionListSchema.parse(input);
  const conditions = new Conditions();
  const all = [`project_id = ${conditions.value(query.projectId)}`, ...activeIn(query, "key", conditions)];
  if (query.principal !== undefined) all.push(`user_id = hashtextextended(${conditions.value(query.principal)}, 0)`);
  const { rows } = await reader.query<SessionRow>(
    `SELECT ${columns} FROM request_log_session WHERE ${all.join(" AND ")}
     ORDER BY last_slot DESC, last_seen DESC, key DESC LIMIT ${query.limit}`,
    conditions.values,
  );
  return pageOf(rows, query.limit, toSession, ({ lastSeen, key }) => ({ lastSeen, key }));
}

/**
 * One session; null if the project has none with this id.
 *
 * @param id as in `SessionEntry.id`. That of a formed session names an instant in it, so that it stays valid when late
 * calls extend the session or merge it with another one.
 */
export async function findSession(reader: Reader, projectId: string, id: string): Promise<SessionRow | null> {
  const [, key, time] = /^~(-?\d{1,19})~(\d{1,15})$/.exec(id) ?? [];
  const formed = key !== undefined && isBigint(key);
  const { rows } = formed
    ? await reader.query<SessionRow>(
        `SELECT ${columns} FROM request_log_session
         WHERE project_id = $1 AND key = $2::bigint AND first_seen <= $3 AND last_seen >= $3 AND session IS NULL`,
        [projectId, key, new Date(Number(time))],
      )
    : await reader.query<SessionRow>(
        `SELECT ${columns} FROM request_log_session WHERE project_id = $1
           AND key = hashtextextended(jsonb_build_array($2::text)::text, 0) AND session = $2`,
        [projectId, id],
      );
  return rows[0] ?? null;
}

export function toSession(row: SessionRow): SessionEntry {
  const { key, firstSeen, lastSeen, calls, errors, ...rest } = row;
  return {
    ...rest,
    id: row.session ?? `~${key}~${firstSeen.getTime()}`,
    firstSeen: firstSeen.toISOString(),
    lastSeen: lastSeen.toISOString(),
    calls: Number(calls),
    errors: Number(errors),
  };
}

const slotMs = 600_000;

/** Conditions on rows that were active in the range and come after the cursor. They use the index on `last_slot`. */
export function activeIn(
  query: { readonly timeRange: keyof typeof timeRangeMs; readonly cursor?: string | undefined },
  key: string,
  conditions: Conditions,
): string[] {
  const from = Date.now() - timeRangeMs[query.timeRange];
  const all = [
    `last_slot >= ${conditions.value(new Date(Math.floor(from / slotMs) * slotMs))}`,
    `last_seen >= ${conditions.value(new Date(from))}`,
  ];
  if (query.cursor === undefined) return all;
  const [time = "0", id = "0"] = query.cursor.split(".");
  const slot = new Date(Math.floor(Number(time) / slotMs) * slotMs);
  all.push(`last_slot <= ${conditions.value(slot)}`);
  all.push(`(last_seen, ${key}) < (${conditions.value(new Date(Number(time)))}, ${conditions.value(id)}::bigint)`);
  return all;
}

/** A next page exists only after a full one. */
export function pageOf<Row, Entry>(
  rows: readonly Row[],
  limit: number,
  toEntry: (row: Row) => Entry,
  position: (row: Row) => { lastSeen: Date; key: string },
): ActivityPage<Entry> {
  const last = rows.length === limit ? rows.at(-1) : undefined;
  const at = last && position(last);
  return { data: rows.map(toEntry), nextCursor: at ? `${at.lastSeen.getTime()}.${at.key}` : null };
}
