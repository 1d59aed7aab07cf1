export { deployGitUrl } from "../../projects/project/index.ts";
export { changeSource } from "./change-source.ts";
export { checkDueGitSources, checkGitSource, checkSource } from "./check-source.ts";
export { continueOnGitHub } from "./continue-on-github.ts";
export { getSource } from "./get-source.ts";
export type { DeployGitUrlInput } from "./git-source.schema.ts";
export {
  type FollowedSourceView,
  type GitHubSourceView,
  type GitSourceView,
  gitSourceSchema,
  type RepositorySourceView,
  repositorySourceSchema,
  type SourceSummary,
  type SourceView,
  sourceViewSchema,
} from "./git-source.view.ts";
export { needsGitHubUser, otherGitHubUser } from "./github-target.ts";
export { type LookedAtSource, lookAtSource } from "./look-at-source.ts";
export { makeDeployKey } from "./make-deploy-key.ts";
export { openBuildSource } from "./open-source.ts";
export { findRepositoryHere } from "./repository-here.ts";
export { makeSourceWebhookSecret, receiveSourceWebhook, removeSourceWebhookSecret } from "./source-webhook.ts";
export { updateSource } from "./update-source.ts";
