export { actFromCheck, type CheckAction } from "./act-from-check.ts";
export { leaveRepository } from "./leave-repository.ts";
export type {
  CheckReport,
  CommentReport,
  CommitState,
  DeploymentReport,
  PostState,
  ReportAddress,
  StatusHook,
  TellGitHub,
} from "./report.port.ts";
export { reportBranch } from "./report-branch.ts";
