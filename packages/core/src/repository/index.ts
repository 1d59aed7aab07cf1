export { deployRepository } from "../project/index.ts";
export { createRepository } from "./create-repository.ts";
export { deleteRepository } from "./delete-repository.ts";
export { findRepositoryForGit } from "./find-repository-for-git.ts";
export { getRepository, listRepositories } from "./list-repositories.ts";
export { makeGitCredential } from "./make-git-credential.ts";
export { receivePush } from "./receive-push.ts";
export type { RepositoryView } from "./repository.store.ts";
export { uploadCommit } from "./upload-commit.ts";
