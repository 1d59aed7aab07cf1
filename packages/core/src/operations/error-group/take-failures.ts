import type { Transaction } from "@towpath/db";
import { instance, requestLog, requestLogFailure } from "@towpath/db/schema";
import { and, asc, between, inArray, lt, sql } from "drizzle-orm";
import { isId } from "../../input/index.ts";
import type { FailedCall } from "./cause-of.ts";

/** A failed call with what is counted of it. */
export type TakenFailure = FailedCall & {
  /** Its row in the request log. */
  readonly id: string;
  readonly projectId: string;
  readonly time: Date;
  readonly deploymentId: string | null;
  readonly principal: string;
  readonly clientName: string | null;
  /** What the server printed during the call, oldest line first; of very much, the end. */
  readonly lines: readonly string[];
};

const maxTaken = 500;
/** The innermost frames and the exception are at the end. */
const maxLines = 300;
const maxLineLength = 400;
const maxClockSkewMs = 60_000;

/**
 * Takes the oldest failures that were written before `before` off the list. `taken`: their number; those whose rows are
 * gone aren't among `failures`.
 */
export async function takeFailures(
  tx: Transaction,
  before: Date,
): Promise<{ readonly taken: number; readonly failures: readonly TakenFailure[] }> {
  const oldest = tx
    .select({ id: requestLogFailure.id })
    .from(requestLogFailure)
    .where(lt(requestLogFailure.queuedAt, before))
    .orderBy(asc(requestLogFailure.id))
    .limit(maxTaken);
  const taken = await tx.delete(requestLogFailure).where(inArray(requestLogFailure.id, oldest)).returning();
  if (taken.length === 0) return { taken: 0, failures: [] };
  const rows = await readRows(tx, taken);
  const [lines, ends] = [await readLines(tx, rows), await readEnds(tx, rows)];
  const failures = rows.map(({ instanceId, requestId, ...row }) => ({
    ...row,
    lines: lines.get(requestId ?? row.id) ?? [],
    end: (instanceId && ends.get(instanceId)) || null,
  }));
  return { taken: taken.length, failures };
}

type Rows = Awaited<ReturnType<typeof readRows>>;

async function readRows(tx: Transaction, taken: readonly (typeof requestLogFailure.$inferSelect)[]) {
  const times = taken.map(({ time }) => time.getTime());
  const column = <Value>(values: readonly Value[], type: string) => sql`${sql.param(values)}::${sql.raw(type)}[]`;
  const keys = sql`SELECT * FROM unnest(${column(
    taken.map(({ projectId }) => projectId),
    "uuid",
  )}, ${column(
    taken.map(({ time }) => time.toISOString()),
    "timestamptz",
  )}, ${column(
    taken.map(({ rowId }) => rowId),
    "uuid",
  )})`;
  return tx
    .select({
      id: requestLog.id,
      requestId: requestLog.requestId,
      projectId: requestLog.projectId,
      time: requestLog.time,
      deploymentId: requestLog.deploymentId,
      instanceId: requestLog.instanceId,
      method: requestLog.method,
      target: requestLog.target,
      outcome: requestLog.outcome,
      httpStatus: requestLog.httpStatus,
      errorCode: requestLog.errorCode,
      errorMessage: requestLog.errorMessage,
      refusal: requestLog.refusal,
      wasSent: sql<boolean>`${requestLog.serverMs} IS NOT NULL`,
      startError: sql<string | null>`${requestLog.startAttempt} ->> 'reason'`,
      principal: requestLog.principal,
      clientName: requestLog.clientName,
    })
    .from(requestLog)
    .where(
      and(
        // The bounds spare the other days' partitions.
        between(requestLog.time, new Date(Math.min(...times)), new Date(Math.max(...times))),
        sql`(${requestLog.projectId}, ${requestLog.time}, ${requestLog.id}) IN (${keys})`,
      ),
    );
}

/** The lines of each request. */
async function readLines(tx: Transaction, rows: Rows): Promise<ReadonlyMap<string, readonly string[]>> {
  const asked = rows.filter(({ outcome }) => outcome !== "gateway_error");
  if (asked.length === 0) return new Map();
  const from = new Date(Math.min(...asked.map(({ time }) => time.getTime())) - maxClockSkewMs);
  const { rows: found } = await tx.execute<{ request: string; lines: string[] }>(sql`
    SELECT asked.request_id AS request, array_agg(found.line ORDER BY found.id) AS lines
    FROM (SELECT DISTINCT * FROM unnest(${sql.param(asked.map(({ projectId }) => projectId))}::uuid[],
        ${sql.param(asked.map(({ id, requestId }) => requestId ?? id))}::uuid[]) AS keys (project_id, request_id)) AS asked
      CROSS JOIN LATERAL (SELECT id, left(line, ${maxLineLength}) AS line FROM server_log
        WHERE project_id = asked.project_id AND request_id = asked.request_id AND time >= ${from.toISOString()}::timestamptz
        ORDER BY id DESC LIMIT ${maxLines}) AS found
    GROUP BY 1`);
  return new Map(found.map(({ request, lines }) => [request, lines]));
}

/** How those instances ended that have ended. */
async function readEnds(tx: Transaction, rows: Rows): Promise<ReadonlyMap<string, FailedCall["end"]>> {
  const ids = rows.flatMap(({ outcome, instanceId }) =>
    (outcome === "gateway_error" || outcome === "closed_by_server") && isId(instanceId) ? [instanceId] : [],
  );
  if (ids.length === 0) return new Map();
  const ended = await tx
    .select({ id: instance.id, state: instance.state, reason: instance.endReason })
    .from(instance)
    .where(and(inArray(instance.id, [...new Set(ids)]), inArray(instance.state, ["crashed", "stopped"])));
  return new Map(
    ended.map(({ id, state, reason }) => [id, { isCrash: state === "crashed", reason: reason ?? "it ended" }]),
  );
}
