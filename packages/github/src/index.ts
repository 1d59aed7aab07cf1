export { createGitHub } from "./client.ts";
export type {
  CreatedRepository,
  GitHub,
  GitHubConfig,
  NewRepository,
  Page,
  RepositoryAddress,
  RepositoryFile,
  SampleFile,
  TarballInput,
  UserToken,
} from "./contract.ts";
export { GitHubError, type GitHubErrorCode, isGitHubError } from "./errors.ts";
export type { ForgeAdmin, ForgeAdminConfig, ForgePushTarget } from "./forge-admin.contract.ts";
export { createForgeAdmin, forgeOperatorToken } from "./forge-admin.ts";
export { type GitHubSettings, gitHubConfigFrom, gitHubSettingsSchema, privateKeySchema } from "./github.config.ts";
export {
  type GitHubApp,
  type GitHubBranch,
  type GitHubBranchSummary,
  type GitHubCommit,
  type GitHubDelivery,
  type GitHubInstallation,
  type GitHubPullRequest,
  type GitHubRepository,
  type GitHubUser,
  gitHubBranchSchema,
  gitHubInstallationSchema,
  gitHubRepositorySchema,
  gitHubUserSchema,
} from "./github.schema.ts";
export { createRepositoryHost, withGitHub } from "./repository-host.ts";
export type {
  DeleteEvent,
  InstallationEvent,
  InstallationRepositoriesEvent,
  PingEvent,
  PullRequestEvent,
  PushEvent,
  RepositoryEvent,
  WebhookEvent,
} from "./webhook.schema.ts";
export { parseWebhook, parseWebhookPayload, signWebhook, verifyWebhook } from "./webhooks.ts";
