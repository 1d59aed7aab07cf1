export { commitChanges } from "./commit-changes.ts";
export { listFiles, readFile, searchFiles } from "./look-at-files.ts";
