export {
  type BuiltFrom,
  builtFromNow,
  builtFromOf,
  isSameSource,
  lockAtSource,
  reachableNow,
  repositoryName,
} from "./built-from.ts";
export { type FoundRepository, findAtGitHub, findAtUrl, findHere } from "./find-repository.ts";
export { changesOf, type GitHubCheckView, headsOf, nextProblem, problemOf, problemView } from "./following.ts";
export {
  findGitSource,
  forgetHead,
  type GitSourceRow,
  recordFailure,
  recordLook,
  sameGitSource,
} from "./git-source.store.ts";
export { type GitSummaryColumns, nameOfUrl, sourceSummary, sourceSummarySchema } from "./git-source.view.ts";
export { openGitSource, openRemote, openRepository } from "./open-source.ts";
export { claimedUntil, nextCheckAt, nextTryAt } from "./pauses.ts";
export { refusedAt, refusedAtUrl } from "./read-refs.ts";
export { repositoryHere } from "./repository-here.ts";
export { storeGitSource } from "./set-source.ts";
export { gitHubRepositoryView, sourceOf } from "./source.ts";
export { openedStatusHook, recordStatus } from "./status-hook.ts";
