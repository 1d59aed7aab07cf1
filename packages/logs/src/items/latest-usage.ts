import type { Pool } from "pg";
import type { LogQueryInput } from "../log-query.schema.ts";
import { queryRequestLogs } from "../query-request-logs.ts";

/** How many of the latest calls were looked at, and their share by caller or by what was called. */
export type LatestUsage<Entry> = { looked: number; data: Entry[] };
export type CallerShare = { principal: string; client: string | null; calls: number; errors: number; lastSeen: string };
export type CalledShare = { method: string | null; target: string | null; calls: number; errors: number };

const maxCalls = 100;

/** Who made the latest 100 calls of a query, most frequent first. Rows say so: the sums don't know callers by tool. */
export async function latestCallers(pool: Pool, query: LogQueryInput): Promise<LatestUsage<CallerShare>> {
  const { data } = await queryRequestLogs(pool, { ...query, limit: maxCalls });
  const groups = Map.groupBy(data, ({ principal, client }) => `${principal}\n${client ?? ""}`);
  const shares = [...groups.values()].map((rows) => ({
    principal: rows[0]?.principal ?? "",
    client: rows[0]?.client ?? null,
    calls: rows.length,
    errors: rows.filter(({ isError }) => isError).length,
    lastSeen: rows[0]?.time ?? "",
  }));
  return { looked: data.length, data: shares.sort((a, b) => b.calls - a.calls) };
}

/** What the latest 100 calls of a principal called, most frequent first. */
export async function latestCalled(
  pool: Pool,
  { principal, ...query }: Pick<LogQueryInput, "projectId" | "timeRange"> & { readonly principal: string },
): Promise<LatestUsage<CalledShare>> {
  const page = await queryRequestLogs(pool, { ...query, search: principal, limit: maxCalls });
  // A search finds parts of texts, in other columns too.
  const own = page.data.filter((row) => row.principal === principal);
  const groups = Map.groupBy(own, ({ method, target }) => JSON.stringify([method, target]));
  const shares = [...groups.values()].map((rows) => ({
    method: rows[0]?.method ?? null,
    target: rows[0]?.target ?? null,
    calls: rows.length,
    errors: rows.filter(({ isError }) => isError).length,
  }));
  return { looked: own.length, data: shares.sort((a, b) => b.calls - a.calls) };
}
