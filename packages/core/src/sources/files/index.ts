export { commitChanges, needsGitHubAccount } from "./commit-changes.ts";
export { listFiles, readFile, searchFiles } from "./look-at-files.ts";
