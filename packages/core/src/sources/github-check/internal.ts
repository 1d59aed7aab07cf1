export { checkGitHubRepository, gitHubCheckView } from "./check-repository.ts";
export { gitHubHeads, recordLookAtGitHub, recordWebhook } from "./github-check.store.ts";
