export { actingAuthor } from "./acting-author.ts";
export { findRepositoryForGit } from "./find-repository-for-git.ts";
export { endAsContinued, lockRepository, recordTarget, whileMoving } from "./moving.store.ts";
export { receivePush } from "./receive-push.ts";
export {
  cloneUrl,
  keepRepository,
  projectsOf,
  type RepositoryView,
  repositoryView,
  requireRepository,
} from "./repository.store.ts";
