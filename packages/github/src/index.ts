export { type AppHealth, appHealth } from "./app-health.ts";
export { appManifest, convertManifest, manifestUrl } from "./app-manifest.ts";
export { neededEvents } from "./app-needs.ts";
export { createGitHub } from "./client.ts";
export {
  createGitHubConnections,
  environmentWebhookPath,
  type GitHubConnections,
  type StoredConnection,
  webhookPathOf,
} from "./connections.ts";
export type {
  GitHub,
  GitHubConfig,
  SampleFile,
  UserToken,
} from "./contract.ts";
export { isGitHubError } from "./errors.ts";
export { optionalGitHubConfig } from "./github.config.ts";
export type {
  GitHubInstallation,
  GitHubRepository,
  GitHubUser,
} from "./github.schema.ts";
export { createGitHubFiles } from "./github-files.ts";
export { createGitHubTarget } from "./github-target.ts";
export type { CommitStatus, NewDeployment, ReportCalls } from "./reports.ts";
export { createRepositoryHost, withGitHub } from "./repository-host.ts";
export type {
  PushEvent,
  WebhookEvent,
} from "./webhook.schema.ts";
export { parseWebhook, parseWebhookPayload, signWebhook, verifyWebhook } from "./webhooks.ts";
export { webhooksMayArrive } from "./webhooks-arrive.ts";
