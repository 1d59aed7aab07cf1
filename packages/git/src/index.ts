export { gitEnvironment } from "./git-environment.ts";
export { createGitRemotes } from "./remotes.ts";
export { adoptRepository, firstAuthors } from "./repositories/adopt.ts";
export { openRepositories, type Repositories } from "./repositories/repositories.ts";
export { removeLeftovers } from "./scratch.ts";
