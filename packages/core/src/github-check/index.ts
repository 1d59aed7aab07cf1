export {
  checkDueGitHubRepositories,
  checkGitHubRepository,
  getGitHubCheck,
  noteMissedWebhooks,
} from "./check-repository.ts";
export type { FollowsGitHub, GitHubCheckView } from "./github-check.port.ts";
