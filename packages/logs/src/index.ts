export { backfillRollups } from "./fold/backfill-rollups.ts";
export { indexFinishedDays } from "./fold/finished-days.ts";
export { foldRequestLogs } from "./fold/fold-request-logs.ts";
export { countServerDays, readServerDays, type ServerDay } from "./fold/server-days.ts";
export { appendBuildLog, buildLogChannel, readBuildLog } from "./lines/build-logs.ts";
export {
  digestOfLine,
  newestServerLines,
  type PrintedLine,
  readRequestLines,
  readServerLogs,
  type ServerLogEntry,
  type ServerLogLevel,
  type ServerLogRow,
  serverLogChannel,
  serverLogEntrySchema,
  unwrittenServerLogs,
  writeServerLogs,
} from "./lines/server-logs.ts";
export { hasRowsSince } from "./query/has-rows-since.ts";
export { argumentErrors } from "./query/items/argument-errors.ts";
export { itemUsage } from "./query/items/item-usage.ts";
export { latestCallers } from "./query/items/latest-callers.ts";
export type {
  Outcome,
  RequestLogDetail,
  RequestLogEntry,
} from "./query/log-query.schema.ts";
export { firstUses } from "./query/overview/first-uses.ts";
export { projectOverview } from "./query/overview/project-overview.ts";
export { serversActivity } from "./query/overview/servers-activity.ts";
export { queryRequestLogs, readRequestLog } from "./query/query-request-logs.ts";
export { limitedReader, type Reader } from "./query/reader.ts";
export { recentLatency, recentlyCalled } from "./query/recent-latency.ts";
export { releaseFigures } from "./query/release-figures.ts";
export { requestLogStats } from "./query/request-log-stats.ts";
export { timeOfRequestId } from "./query/request-time.ts";
export { sessionStats, sessionTimeseries, userStats, userTimeseries } from "./query/sessions/activity.ts";
export { listSessions } from "./query/sessions/list-sessions.ts";
export { listUsers } from "./query/sessions/list-users.ts";
export { sessionUsage, userUsage } from "./query/sessions/session-usage.ts";
export { attemptsOf } from "./sign-ins/attempts.ts";
export { readSignInSteps } from "./sign-ins/read-sign-in-steps.ts";
export { findSignInLoops } from "./sign-ins/sign-in-loops.ts";
export { SignInRecorder } from "./sign-ins/sign-in-recorder.ts";
export { BatchWriter } from "./write/batch-writer.ts";
export { cutTexts, type RequestLogRow } from "./write/request-log.row.ts";
export { requestLogChannel } from "./write/request-log-changes.ts";
export type { WriteOutcome } from "./write/write-isolating.ts";
export { requestLogBatches, writeRequestLogs } from "./write/write-request-logs.ts";
