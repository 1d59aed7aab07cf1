export { backfillRollups } from "./backfill-rollups.ts";
export { BatchWriter } from "./batching/batch-writer.ts";
export { appendBuildLog, buildLogChannel, readBuildLog } from "./build-logs.ts";
export { foldRequestLogs } from "./fold-request-logs.ts";
export type {
  Outcome,
  RequestLogDetail,
  RequestLogEntry,
} from "./log-query.schema.ts";
export { queryRequestLogs, readRequestLog } from "./query-request-logs.ts";
export { cutTexts, type RequestLogRow } from "./request-log.row.ts";
export { requestLogChannel } from "./request-log-changes.ts";
export { requestLogStats } from "./request-log-stats.ts";
export {
  readServerLogs,
  type ServerLogLevel,
  type ServerLogRow,
  serverLogChannel,
  writeServerLogs,
} from "./server-logs.ts";
export { writeRequestLogs } from "./write-request-logs.ts";
