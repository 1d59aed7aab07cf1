export { makeTar, makeZip, streamOf, type TestEntry } from "./make-archive.ts";
export { commitFiles, git, makeRepository } from "./make-repository.ts";
export { type GitServer, serveGitRepositories } from "./serve-repositories.ts";
