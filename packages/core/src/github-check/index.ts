export { checkDueGitHubRepositories, noteMissedWebhooks } from "./check-repository.ts";
