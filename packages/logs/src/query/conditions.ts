import { uriTemplatePattern } from "./items/uri-template-pattern.ts";
import type { LogQuery } from "./log-query.schema.ts";
import { timeRangeMs } from "./log-search.ts";
import { openEnd } from "./spans.ts";

/** Conditions of a query as SQL; they refer to `values` by position. Values are never spliced into the text. */
export class Conditions {
  readonly values: unknown[] = [];

  /** Adds a value; returns the text's reference to it. */
  value(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** The period [from, to) of a query, milliseconds. Without `endDate` it ends after now, as gateways' clocks differ. */
export function periodOf(query: LogQuery, now: number): { from: number; to: number } {
  const end = query.endDate?.getTime();
  const from = query.startDate?.getTime() ?? (end ?? now) - timeRangeMs[query.timeRange];
  const behind = query.cursor === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(query.cursor, 10) + 1;
  return { from, to: Math.min(end === undefined ? openEnd(now) : end + 1, behind) };
}

const asksFor = (query: LogQuery, fields: readonly (keyof LogQuery)[]): boolean =>
  fields.some((field) => query[field] !== undefined);

/** Whether a query asks for a client, a session or users. */
export const asksForCallers = (query: LogQuery): boolean => asksFor(query, ["clientName", "session", "principals"]);
export const asksForDurations = (query: LogQuery): boolean => asksFor(query, ["longerThanMs", "shorterThanMs"]);
/** Whether sums help to find a query's rows. Leaving out the protocol alone excludes too little. */
export const asksForSums = (query: LogQuery): boolean =>
  asksForDurations(query) ||
  asksFor(query, ["deploymentIds", "deploymentId", "httpMethod", "hasFailed", "isError", "isRefused"]) ||
  asksFor(query, ["jsonrpcMethod", "methodPrefix", "toolName", "target", "uriTemplate"]);

/** `hasNoMethod`: not a JSON-RPC request. Series that count calls beyond the limit of names have no method either. */
type Aliased = { alias: string; isError: string; isRefused: string; hasSucceeded: string; hasNoMethod: string };
/**
 * 0: succeeded; 1: error; 2: refused by the gateway before it called a server; 3: by a limit. As sums count rows, which have
 * class 4 for replayed calls (CAP-4): nobody's use.
 */
const classOfRow = "towpath_request_class(is_error, outcome, http_status)";
export const isErrorRow = `(is_error AND ${classOfRow} = 1)`;
export const isRefusedRow = `(is_error AND ${classOfRow} >= 2)`;
/** Rows of `request_log` have `is_error`, an index column for both kinds; series and sums have a class. */
const ofRows: Aliased = {
  alias: "request_log",
  isError: isErrorRow,
  isRefused: isRefusedRow,
  hasSucceeded: "NOT is_error",
  hasNoMethod: "method IS NULL",
};
export const ofSeries = (alias: string): Aliased => ({
  alias,
  isError: `${alias}.class = 1`,
  isRefused: `${alias}.class IN (2, 3)`,
  hasSucceeded: `${alias}.class IN (0, 4)`,
  hasNoMethod: `(${alias}.method IS NULL AND NOT ${alias}.is_overflow)`,
});

/** Deployment, HTTP method, error and refusal, as conditions on rows or on series; `true` when the query asks for none. */
export function scopeCondition(query: LogQuery, conditions: Conditions, aliased: Aliased): string {
  const { alias, isError, isRefused, hasSucceeded } = aliased;
  const all: string[] = [];
  const deployments = [...(query.deploymentIds ?? []), ...(query.deploymentId ? [query.deploymentId] : [])];
  // An empty list matches nothing: its branch was never deployed.
  if (query.deploymentIds || query.deploymentId)
    all.push(`${alias}.deployment_id = ANY(${conditions.value(deployments)}::uuid[])`);
  if (query.httpMethod) all.push(`${alias}.http_method = ${conditions.value(query.httpMethod.toUpperCase())}`);
  if (query.hasFailed !== undefined) all.push(query.hasFailed ? `NOT (${hasSucceeded})` : `(${hasSucceeded})`);
  if (query.isError !== undefined) all.push(query.isError ? `(${isError})` : `NOT (${isError})`);
  if (query.isRefused !== undefined) all.push(query.isRefused ? `(${isRefused})` : `NOT (${isRefused})`);
  return all.join(" AND ") || "true";
}

/** Methods of the protocol itself, in addition to all lists and notifications. */
const protocolMethods = [
  "initialize",
  "ping",
  "server/discover",
  "logging/setLevel",
  "subscriptions/listen",
  "resources/subscribe",
  "resources/unsubscribe",
  // Clients poll by them.
  "tasks/get",
  "tasks/result",
];

/** Methods of the protocol itself, and requests without a method, such as the event stream of a session. */
const protocolSql = ({ alias, hasNoMethod }: Aliased) =>
  `(${hasNoMethod} OR ${alias}.method IN (${protocolMethods.map((method) => `'${method}'`).join(", ")})
    OR ${alias}.method LIKE '%/list' OR ${alias}.method LIKE 'notifications/%')`;

/** JSON-RPC method, prefix and tool, as conditions on rows or on series; `true` when the query asks for none. */
export function methodCondition(query: LogQuery, conditions: Conditions, aliased: Aliased): string {
  const { alias } = aliased;
  const all: string[] = [];
  // Never null, even for calls without a method beyond the limit of names.
  if (query.withoutProtocol) all.push(`(${aliased.hasSucceeded} AND ${protocolSql(aliased)}) IS NOT TRUE`);
  if (query.jsonrpcMethod) all.push(`${alias}.method = ${conditions.value(query.jsonrpcMethod)}`);
  if (query.methodPrefix) {
    const prefix = query.methodPrefix.endsWith("/") ? query.methodPrefix : `${query.methodPrefix}/`;
    all.push(`starts_with(${alias}.method, ${conditions.value(prefix)})`);
  }
  if (query.toolName)
    all.push(`${alias}.method = 'tools/call' AND ${alias}.target = ${conditions.value(query.toolName)}`);
  if (query.target !== undefined) all.push(`${alias}.target = ${conditions.value(query.target)}`);
  if (query.uriTemplate !== undefined) {
    all.push(`${alias}.method = 'resources/read'`);
    all.push(`${alias}.target ~ ${conditions.value(uriTemplatePattern(query.uriTemplate))}`);
    if (query.exceptTargets?.length)
      all.push(`${alias}.target <> ALL(${conditions.value(query.exceptTargets)}::text[])`);
  }
  return all.join(" AND ") || "true";
}

/** Whether one of the columns contains the searched text; `true` without a search. */
export function searchCondition(query: LogQuery, conditions: Conditions, columns: readonly string[]): string {
  if (!query.search) return "true";
  const pattern = conditions.value(searchPattern(query.search));
  // Case folding of other scripts needs the database's collation, which is many times slower.
  const collation = isAscii.test(query.search) ? ' COLLATE "C"' : "";
  return `(${columns.map((column) => `${column}${collation} ILIKE ${pattern}`).join(" OR ")})`;
}

const isAscii = /^\p{ASCII}*$/u;

/** The searched columns of a row (VAL-5). */
export const searchedColumns: readonly string[] = [
  "method",
  "target",
  "error_message",
  "client_name",
  "session",
  "principal",
];

/** A LIKE pattern for texts that contain the given one. */
export function searchPattern(search: string): string {
  return `%${search.replaceAll("\0", "").replace(/[\\%_]/g, "\\$&")}%`;
}

/** A client by the beginning of its name. */
export const clientNameCondition = (alias: string, name: string, conditions: Conditions): string =>
  `starts_with(lower(${alias}.client_name), lower(${conditions.value(name)}))`;

/** Client, session, users and durations; rows only: series don't know callers. */
function callerRowCondition(query: LogQuery, conditions: Conditions): string {
  const all: string[] = [];
  if (query.clientName !== undefined) all.push(clientNameCondition("request_log", query.clientName, conditions));
  if (query.session !== undefined) all.push(`session = ${conditions.value(query.session)}`);
  if (query.principals !== undefined) all.push(`principal = ANY(${conditions.value(query.principals)}::text[])`);
  if (query.longerThanMs !== undefined) all.push(`duration_ms > ${conditions.value(query.longerThanMs)}`);
  if (query.shorterThanMs !== undefined) all.push(`duration_ms < ${conditions.value(query.shorterThanMs)}`);
  return all.join(" AND ") || "true";
}

/** Rows after the last one of a page. */
function cursorCondition({ cursor }: LogQuery, conditions: Conditions): string {
  if (cursor === undefined) return "true";
  const [time, id] = cursor.split(".");
  return `(time, id) < (${conditions.value(new Date(Number(time)))}, ${conditions.value(id)}::uuid)`;
}

/** All conditions on a row of `request_log` except its period. `searched`: columns that can contain the search. */
export function rowCondition(query: LogQuery, conditions: Conditions, searched = searchedColumns): string {
  return [
    cursorCondition(query, conditions),
    scopeCondition(query, conditions, ofRows),
    methodCondition(query, conditions, ofRows),
    callerRowCondition(query, conditions),
    searchCondition(query, conditions, searched),
  ].join(" AND ");
}
