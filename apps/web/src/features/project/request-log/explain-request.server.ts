import { notFound } from "@towpath/core/errors";
import {
  type Reader,
  type RequestLogDetail,
  readRequestLines,
  readRequestLog,
  type ServerLogEntry,
} from "@towpath/logs";

/** All details of a call (PRJ-20). */
export type ExplainedRequest = RequestLogDetail & {
  /** The server's output while it handled the request, oldest line first (LOG-4). */
  readonly lines: readonly (ServerLogEntry & { readonly deploymentId: string })[];
  readonly hasMoreLines: boolean;
};

/** @throws TowpathError `not_found`. The caller has checked access to the project. */
export async function explainRequest(
  reader: Reader,
  row: { projectId: string; id: string; time?: Date | undefined },
): Promise<ExplainedRequest> {
  const entry = await readRequestLog(reader, row);
  if (!entry) throw notFound("request");
  const { requestId, time } = entry;
  const { lines, hasMore } = await readRequestLines(reader, {
    projectId: row.projectId,
    requestId,
    time: new Date(time),
  });
  return { ...entry, lines, hasMoreLines: hasMore };
}
