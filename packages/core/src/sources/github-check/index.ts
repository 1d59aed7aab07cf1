export { checkDueGitHubRepositories, recordMissedWebhooks } from "./check-repository.ts";
