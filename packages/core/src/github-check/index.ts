export {
  checkDueGitHubRepositories,
  checkGitHubRepository,
  getGitHubCheck,
  noteMissedWebhooks,
} from "./check-repository.ts";
export type { AskHeads, FollowsGitHub, GitHubCheckView } from "./github-check.port.ts";
