export { changeGitHubKeys, connectGitHub } from "./connect-github.ts";
export { authorizeInstance, type GitHubConnectionView } from "./github-connection.store.ts";
export { listGitHub, openGitHub } from "./list-github.ts";
export { removeGitHub } from "./remove-github.ts";
