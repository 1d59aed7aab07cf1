export { changeRelease, getGradualRelease } from "./change-release.ts";
export { judgeDueReleases, type ReadReleaseFigures } from "./judge-due-releases.ts";
export { getReleasePolicy, saveReleasePolicy } from "./release-policy.ts";
