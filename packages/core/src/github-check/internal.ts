export { noteLookAtGitHub, noteWebhook } from "./github-check.store.ts";
