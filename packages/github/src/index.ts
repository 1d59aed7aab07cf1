export { createGitHub } from "./client.ts";
export type {
  GitHub,
  GitHubConfig,
  RepositoryAddress,
  SampleFile,
  UserToken,
} from "./contract.ts";
export { isGitHubError } from "./errors.ts";
export { gitHubConfigFrom, gitHubSettingsSchema, parseGitHubSettings } from "./github.config.ts";
export type {
  GitHubInstallation,
  GitHubRepository,
  GitHubUser,
} from "./github.schema.ts";
export type { CommitStatus, NewDeployment, ReportCalls } from "./reports.ts";
export { createRepositoryHost, withGitHub } from "./repository-host.ts";
export type {
  PushEvent,
  WebhookEvent,
} from "./webhook.schema.ts";
export { parseWebhook, parseWebhookPayload, signWebhook, verifyWebhook } from "./webhooks.ts";
