import type { Pool } from "pg";
import { timeRangeMs } from "../log-search.ts";
import { findSession, toSession } from "./list-sessions.ts";
import { readUser } from "./list-users.ts";
import { readUsage } from "./read-usage.ts";
import type { SessionEntry, Usage, UsageItem, UserEntry } from "./session-query.schema.ts";

const maxSessionCalls = 1000;
const maxUserCalls = 100;
const maxUserSessions = 50;

/**
 * A session, and what its latest calls did, at most 1000 (LOG-1).
 *
 * @returns null when the project has no such session. The caller has checked access to the project.
 */
export async function sessionUsage(
  pool: Pool,
  { projectId, sessionId }: { projectId: string; sessionId: string },
): Promise<{ session: SessionEntry; usage: Usage } | null> {
  const row = await findSession(pool, projectId, sessionId);
  if (!row) return null;
  const { session, principal, clientName, clientVersion, callerIds } = row;
  const own = session ? { session } : { session, principal, client_name: clientName, client_version: clientVersion };
  const subject = { projectId, callerIds, from: row.firstSeen, to: row.lastSeen, own };
  return { session: toSession(row), usage: usageOf(await readUsage(pool, subject, maxSessionCalls)) };
}

/**
 * A principal that called the project, and what its latest calls in the range did, at most 100 (LOG-1).
 *
 * @returns null when it never called. The caller has checked access to the project.
 */
export async function userUsage(
  pool: Pool,
  query: { projectId: string; principal: string; timeRange: keyof typeof timeRangeMs },
): Promise<{ user: UserEntry; usage: Usage } | null> {
  const { projectId, principal, timeRange } = query;
  const since = new Date(Date.now() - timeRangeMs[timeRange]);
  const [user, sessions] = await Promise.all([
    readUser(pool, query),
    pool.query<{ ids: string[] | null; from: Date; to: Date | null }>(
      `SELECT array_agg(DISTINCT id) AS ids, greatest(min(first_seen), $3) AS from, max(last_seen) AS to FROM (
         SELECT caller_ids, first_seen, last_seen FROM request_log_session WHERE project_id = $1 AND user_id = hashtextextended($2, 0)
           AND last_slot >= date_bin('10 minutes', $3, 'epoch') ORDER BY last_slot DESC LIMIT ${maxUserSessions}) AS s,
       unnest(caller_ids) AS id`,
      [projectId, principal, since],
    ),
  ]);
  if (!user) return null;
  const { ids: callerIds, from, to } = sessions.rows[0] ?? {};
  if (!callerIds || !from || !to) return { user, usage: usageOf([]) };
  return {
    user,
    usage: usageOf(await readUsage(pool, { projectId, callerIds, from, to, own: { principal } }, maxUserCalls)),
  };
}

const usageOf = (data: UsageItem[]): Usage => ({ data, counted: data.reduce((sum, { calls }) => sum + calls, 0) });
