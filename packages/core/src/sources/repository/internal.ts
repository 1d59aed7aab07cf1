export { endAsContinued, lockRepository, recordTarget, whileMoving } from "./moving.store.ts";
export {
  cloneUrl,
  keepRepository,
  projectsOf,
  type RepositoryView,
  repositoryView,
  requireRepository,
} from "./repository.store.ts";
