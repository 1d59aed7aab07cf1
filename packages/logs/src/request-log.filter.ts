import type { LogQuery } from "./log-query.schema.ts";
import { timeRangeMs } from "./log-search.ts";

/** SQL conditions and their values; conditions refer to values by position. */
export type Filter = {
  /** Project, time, deployment, HTTP method, error, search. */
  scope: string;
  /** JSON-RPC method, prefix and tool; `true` when not asked for. */
  method: string;
  values: unknown[];
  start: Date;
  end: Date;
};

/**
 * Turns a parsed query into SQL conditions on `request_log`. The project always comes first: a query without a
 * tenant cannot be written. Values are never spliced into the text.
 */
export function requestLogFilter(query: LogQuery, now: Date): Filter {
  const end = query.endDate ?? now;
  const start = query.startDate ?? new Date(end.getTime() - timeRangeMs[query.timeRange]);
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;

  const scope = [`project_id = ${parameter(query.projectId)}`, `time >= ${parameter(start)}`];
  // Without an end date nothing is cut off: rows of a clock slightly ahead of ours would vanish otherwise.
  if (query.endDate) scope.push(`time <= ${parameter(query.endDate)}`);
  const deployments = [...(query.deploymentIds ?? []), ...(query.deploymentId ? [query.deploymentId] : [])];
  if (deployments.length > 0) scope.push(`deployment_id = ANY(${parameter(deployments)}::uuid[])`);
  if (query.httpMethod) scope.push(`http_method = ${parameter(query.httpMethod.toUpperCase())}`);
  // Not as a parameter: a prepared plan could not use the index of the error rows then.
  if (query.isError !== undefined) scope.push(query.isError ? "is_error" : "NOT is_error");
  if (query.search) {
    const pattern = parameter(`%${escapeLike(query.search)}%`);
    const searched = ["method", "target", "error_message", "client_name", "session", "principal"];
    scope.push(`(${searched.map((column) => `${column} ILIKE ${pattern}`).join(" OR ")})`);
  }

  const method: string[] = [];
  if (query.jsonrpcMethod) method.push(`method = ${parameter(query.jsonrpcMethod)}`);
  if (query.methodPrefix) {
    const prefix = query.methodPrefix.endsWith("/") ? query.methodPrefix : `${query.methodPrefix}/`;
    method.push(`starts_with(method, ${parameter(prefix)})`);
  }
  if (query.toolName) method.push(`method = 'tools/call' AND target = ${parameter(query.toolName)}`);
  return { scope: scope.join(" AND "), method: method.join(" AND ") || "true", values, start, end };
}

function escapeLike(text: string): string {
  return text.replaceAll("\0", "").replace(/[\\%_]/g, "\\$&");
}
