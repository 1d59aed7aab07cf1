export { createStatePoster } from "./commit-state.ts";
export { gitEnvironment } from "./git-environment.ts";
export { createGitRemotes } from "./remotes.ts";
export { adoptRepository, firstAuthors } from "./repositories/adopt.ts";
export { type RepositoriesKind, repositorySettings } from "./repositories/config.ts";
export { openRepositoryCopies, restoreRepository } from "./repositories/copies.ts";
export { openInstanceRepositories } from "./repositories/open-instance-repositories.ts";
export { openRepositories, type Repositories } from "./repositories/repositories.ts";
export { removeLeftovers } from "./scratch.ts";
