export {
  type BuiltFrom,
  builtFromNow,
  builtFromOf,
  isSameSource,
  lockAtSource,
  reachableNow,
  repositoryName,
} from "./built-from.ts";
export {
  findGitSource,
  forgetHead,
  type GitSourceRow,
  givenCredential,
  noteLook,
  recordFailure,
  sameGitSource,
  sealedCredential,
  storedHeads,
} from "./git-source.store.ts";
export { type GitSummaryColumns, nameOfUrl, type SourceSummary, sourceSummary } from "./git-source.view.ts";
export { openSource, readerOf } from "./open-source.ts";
export { claimedUntil, firstCheckAt, nextCheckAt, nextTryAt } from "./pauses.ts";
export { chooseBranch, movedUrl, readRefs, refusedAt, refusedAtUrl } from "./read-refs.ts";
export { repositoryHere } from "./repository-here.ts";
export { repositoryView, sourceOf } from "./source.ts";
export { noteStatus, openedStatusHook } from "./status-hook.ts";
