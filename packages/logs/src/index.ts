export { backfillRollups } from "./backfill-rollups.ts";
export { BatchWriter } from "./batching/batch-writer.ts";
export { appendBuildLog, buildLogChannel, readBuildLog } from "./build-logs.ts";
export { indexFinishedDays } from "./finished-days.ts";
export { foldRequestLogs } from "./fold-request-logs.ts";
export { itemUsage } from "./items/item-usage.ts";
export { latestCallers } from "./items/latest-callers.ts";
export type {
  Outcome,
  RequestLogDetail,
  RequestLogEntry,
} from "./log-query.schema.ts";
export { firstUses } from "./overview/first-uses.ts";
export { projectOverview } from "./overview/project-overview.ts";
export { serversActivity } from "./overview/servers-activity.ts";
export { queryRequestLogs, readRequestLog } from "./query-request-logs.ts";
export { cutTexts, type RequestLogRow } from "./request-log.row.ts";
export { requestLogChannel } from "./request-log-changes.ts";
export { requestLogStats } from "./request-log-stats.ts";
export { timeOfRequestId } from "./request-time.ts";
export {
  readRequestLines,
  readServerLogs,
  type ServerLogEntry,
  type ServerLogLevel,
  type ServerLogRow,
  serverLogChannel,
  unwrittenServerLogs,
  writeServerLogs,
} from "./server-logs.ts";
export { sessionStats, sessionTimeseries, userStats, userTimeseries } from "./sessions/activity.ts";
export { listSessions } from "./sessions/list-sessions.ts";
export { listUsers } from "./sessions/list-users.ts";
export { sessionUsage, userUsage } from "./sessions/session-usage.ts";
export { attemptsOf } from "./sign-ins/attempts.ts";
export { readSignInSteps } from "./sign-ins/read-sign-in-steps.ts";
export { SignInRecorder } from "./sign-ins/sign-in-recorder.ts";
export { requestLogBatches, writeRequestLogs } from "./write-request-logs.ts";
