export { checkGitHubRepository, gitHubCheckView } from "./check-repository.ts";
export { gitHubHeads, noteLookAtGitHub, noteWebhook } from "./github-check.store.ts";
