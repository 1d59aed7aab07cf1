export { createStatePoster } from "./commit-state.ts";
export { type GitSetting, gitEnvironment } from "./git-environment.ts";
export { createGitRemotes } from "./remotes.ts";
export { removeLeftovers } from "./scratch.ts";
