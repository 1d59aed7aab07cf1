import { authorizeProject, type Permission, withAccess } from "@towpath/core/authorize";
import type { Context } from "@towpath/core/context";
import { parseInput } from "@towpath/core/input";
import { queryRequestLogs } from "@towpath/logs";
import type { LogQueryInput, RequestLogEntry } from "@towpath/logs/schema";
import { z } from "zod";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import { nameCallers } from "~/features/shared/log-stream/name-principals.server.ts";
import { download, downloadFormats } from "~/http/download.server.ts";
import { logParametersSchema, readLogParameters } from "./log-query.server.ts";

/** Rows of an export, and of each of its pages. */
const maxRows = 10_000;
const pageSize = 1000;

const exportSchema = logParametersSchema.extend({ format: z.enum(downloadFormats).default("jsonl") });
const columns = [
  "Time (UTC)",
  "Request",
  "HTTP",
  "Method",
  "Target",
  "Status",
  "Outcome",
  "Error",
  "Duration (ms)",
  "Held (ms)",
  "Bytes in",
  "Bytes out",
  "Client",
  "Caller",
  "Session",
  "Deployment",
  "Result",
];

/**
 * The newest 10,000 matching rows of the request log, as CSV or JSON Lines by `?format=`, with REST's parameters
 * (PRJ-5). Payloads are left out.
 *
 * @throws TowpathError `invalid_input`; `not_found` for a project of others
 */
export async function logExport(
  ctx: Context,
  permission: Permission,
  key: { readonly orgSlug: string; readonly projectName: string },
  search: URLSearchParams,
): Promise<Response> {
  const { format, ...parameters } = parseInput(exportSchema, Object.fromEntries(search));
  const access = await authorizeProject(ctx, permission, key);
  const own = withAccess(ctx, access);
  const now = ctx.clock.now();
  const query = { ...(await readLogParameters(own, key, parameters)), projectId: access.project.id };
  const pages = exportedPages(own, key.orgSlug, { ...query, endDate: query.endDate ?? now });
  const name = `request-log-${access.project.name}-${now.toISOString().slice(0, 10)}`;
  return download({ format, name, columns, cells: cellsOf, pages });
}

type Exported = Awaited<ReturnType<typeof nameCallers<RequestLogEntry>>>[number];

async function* exportedPages(ctx: Context, orgSlug: string, query: LogQueryInput): AsyncGenerator<Exported[]> {
  let cursor: string | undefined;
  for (let sent = 0; sent < maxRows; sent += pageSize) {
    const page = { ...query, cursor, offset: 0, limit: pageSize };
    const { data, nextCursor } = await readRequestLogs((reader) => queryRequestLogs(reader, page));
    yield await nameCallers(ctx, orgSlug, data);
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}

function cellsOf(row: Exported): readonly string[] {
  const numbers = [
    row.durationMs.toFixed(1),
    row.heldMs.toFixed(1),
    String(row.requestBytes),
    String(row.responseBytes),
  ];
  return [
    row.time,
    row.requestId,
    row.httpMethod,
    row.method ?? "",
    row.target ?? "",
    String(row.httpStatus),
    row.isRefused ? "refused" : row.outcome,
    row.errorMessage ?? "",
    ...numbers,
    row.client ?? "",
    row.caller.email ?? row.caller.name,
    row.session ?? "",
    row.deploymentId ?? "",
    row.kept ?? "",
  ];
}
