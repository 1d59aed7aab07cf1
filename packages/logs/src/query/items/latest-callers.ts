import type { LogQueryInput } from "../log-query.schema.ts";
import { queryRequestLogs } from "../query-request-logs.ts";
import type { Reader } from "../reader.ts";

type CallerShare = { principal: string; client: string | null; calls: number; errors: number; lastSeen: string };

const maxCalls = 100;

/** The callers of a query's latest 100 calls, most frequent first. From rows: the sums don't know callers by tool. */
export async function latestCallers(
  reader: Reader,
  query: LogQueryInput,
): Promise<{ looked: number; data: CallerShare[] }> {
  const { data } = await queryRequestLogs(reader, { ...query, limit: maxCalls });
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
