export { commitFiles, git, makeRepository } from "./make-repository.ts";
export { type GitServer, serveGitRepositories } from "./serve-repositories.ts";
