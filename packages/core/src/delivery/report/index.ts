export { actFromCheck, type CheckAction } from "./act-from-check.ts";
export { leaveRepository } from "./leave-repository.ts";
export type {
  CheckReport,
  CommentReport,
  CommitState,
  DeploymentReport,
  GitHubReporter,
  PostState,
  ReportAddress,
  StatusHook,
} from "./report.port.ts";
export { reportBranch } from "./report-branch.ts";
