import { isRefusedRow } from "../conditions.ts";
import type { RequestLogEntry, TimeRange } from "../log-query.schema.ts";
import { readNewest } from "../query-request-logs.ts";
import type { Reader } from "../reader.ts";
import { findSession, toSession } from "./list-sessions.ts";
import { readUser } from "./list-users.ts";
import type { SessionEntry, Usage, UsageItem, UserEntry } from "./session-query.schema.ts";

const maxSessionCalls = 1000;
const maxUserCalls = 100;
const isAnswered = `NOT ${isRefusedRow}`;

/**
 * A session, and the usage of its latest calls, at most 1000 (LOG-1).
 *
 * @returns null if the project has no such session. The caller has checked access to the project.
 */
export async function sessionUsage(
  reader: Reader,
  { projectId, sessionId }: { projectId: string; sessionId: string },
): Promise<{ session: SessionEntry; usage: Usage } | null> {
  const row = await findSession(reader, projectId, sessionId);
  if (!row) return null;
  const { session, principal, clientName, clientVersion } = row;
  const period = { projectId, startDate: row.firstSeen, endDate: row.lastSeen, limit: maxSessionCalls };
  const rows =
    session === null
      ? await readNewest(reader, { ...period, principals: [principal] }, (conditions) =>
          [
            `${isAnswered} AND session IS NULL AND client_name IS NOT DISTINCT FROM ${conditions.value(clientName)}`,
            `client_version IS NOT DISTINCT FROM ${conditions.value(clientVersion)}`,
          ].join(" AND "),
        )
      : await readNewest(reader, { ...period, session }, () => isAnswered);
  return { session: toSession(row), usage: usageOf(rows) };
}

/**
 * A principal that called the project, and the usage of its latest calls in the range, at most 100 (LOG-1).
 *
 * @returns null if it never called. The caller has checked access to the project.
 */
export async function userUsage(
  reader: Reader,
  query: { projectId: string; principal: string; timeRange: TimeRange },
): Promise<{ user: UserEntry; usage: Usage } | null> {
  const { projectId, principal, timeRange } = query;
  const asked = { projectId, timeRange, principals: [principal], limit: maxUserCalls };
  const [user, rows] = await Promise.all([readUser(reader, query), readNewest(reader, asked, () => isAnswered)]);
  return user && { user, usage: usageOf(rows) };
}

/** The called items, most frequent first. From rows: sums of every caller by tool would be as many as these. */
function usageOf(rows: readonly RequestLogEntry[]): Usage {
  const groups = Map.groupBy(rows, ({ method, target }) => JSON.stringify([method, target]));
  const data = [...groups.values()].map((calls): UsageItem => {
    const durations = calls.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
    const quantile = (share: number) => durations[Math.ceil(share * durations.length) - 1] ?? 0;
    return {
      method: calls[0]?.method ?? null,
      target: calls[0]?.target ?? null,
      calls: calls.length,
      errors: calls.filter(({ isError }) => isError).length,
      p50Ms: quantile(0.5),
      p95Ms: quantile(0.95),
    };
  });
  const order = ({ method, target }: UsageItem) => `${method ?? "~"} ${target ?? "~"}`;
  return { data: data.sort((a, b) => b.calls - a.calls || (order(a) < order(b) ? -1 : 1)), counted: rows.length };
}
