import { queryRequestLogs, type Reader, type RequestLogEntry, readRequestLog } from "@towpath/logs";
import { explainFailure } from "~/features/project/request-log/call-failure.tsx";

/** Failures of the same kind: the called item and the error. */
export type LatestFailure = {
  /** Id of the newest failure's row in the log. */
  readonly id: string;
  readonly time: string;
  /** The tool, prompt or resource; else the method. */
  readonly what: string;
  readonly message: string;
  /** Failures of this kind among the newest 50. */
  readonly count: number;
};

/** Failures that are read, and kinds that are shown. */
const maxFailures = 50;
const maxShown = 5;

/**
 * The latest failures of the last 24 hours, of a project or of some of its deployments, by kind, newest first. Rows of
 * earlier releases have a tool's message only in their payload. The caller has checked access to the project.
 */
export async function latestFailures(
  reader: Reader,
  scope: { readonly projectId: string; readonly deploymentIds?: readonly string[] | undefined },
): Promise<readonly LatestFailure[]> {
  const { projectId, deploymentIds } = scope;
  if (deploymentIds?.length === 0) return [];
  const { data } = await queryRequestLogs(reader, {
    projectId,
    isError: true,
    timeRange: "24h",
    limit: maxFailures,
    ...(deploymentIds && { deploymentIds: [...deploymentIds] }),
  });
  const kinds = Map.groupBy(data, (row) => `${whatOf(row)} ${row.outcome} ${row.httpStatus} ${row.errorMessage}`);
  return Promise.all(
    [...kinds.values()].slice(0, maxShown).flatMap((rows) => {
      const [newest] = rows;
      return newest ? [failureOf(reader, projectId, newest, rows.length)] : [];
    }),
  );
}

const whatOf = (row: RequestLogEntry): string => row.target ?? row.method ?? row.httpMethod;

async function failureOf(
  reader: Reader,
  projectId: string,
  row: RequestLogEntry,
  count: number,
): Promise<LatestFailure> {
  const isInPayload = row.errorMessage === null && row.outcome === "tool_error";
  const detail = isInPayload ? await readRequestLog(reader, { projectId, id: row.id, time: new Date(row.time) }) : null;
  const failure = explainFailure(row, detail ?? undefined);
  const text = failure?.isTextMissing ? null : failure?.text;
  const message = text || failure?.title || "Failed without a message";
  return { id: row.id, time: row.time, what: whatOf(row), message, count };
}
