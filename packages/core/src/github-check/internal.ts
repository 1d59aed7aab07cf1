export { gitHubHeads, noteLookAtGitHub, noteWebhook } from "./github-check.store.ts";
