import type { errorGroup } from "@towpath/db/schema";
import type { ErrorDetail, ErrorState, ErrorSummary } from "./error-group.schema.ts";

type Row = typeof errorGroup.$inferSelect;

/** `lastDay`: failures by hour. */
export const errorSummary = (row: Row, lastDay: readonly number[]): ErrorSummary => ({
  id: row.id,
  title: row.title,
  exception: row.exception,
  method: row.method,
  target: row.target,
  frame: row.file === null ? null : { file: row.file, line: row.line ?? 1, name: row.functionName ?? "<module>" },
  state: row.state as ErrorState,
  isBack: row.isBack,
  isOverflow: row.isOverflow,
  count: row.count,
  firstSeen: row.firstSeen.toISOString(),
  lastSeen: row.lastSeen.toISOString(),
  openedAt: row.openedAt.toISOString(),
  resolvedAt: row.resolvedAt?.toISOString() ?? null,
  firstDeploymentId: row.firstDeploymentId,
  lastDeploymentId: row.lastDeploymentId,
  lastDay,
});

export const errorDetail = (row: Row, lastDay: readonly number[], lastMonth: readonly number[]): ErrorDetail => ({
  ...errorSummary(row, lastDay),
  lastMonth,
  callers: row.callers,
  hasMoreCallers: row.hasMoreCallers,
  clients: row.clients,
  hasMoreClients: row.hasMoreClients,
  samples: row.samples,
});
