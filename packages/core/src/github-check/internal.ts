export { checkGitHubRepository, gitHubCheckView } from "./check-repository.ts";
export { noteLookAtGitHub, noteWebhook } from "./github-check.store.ts";
