export { beginRelease, stopRelease } from "./begin-release.ts";
export { mayApprove, readPolicy } from "./release-policy.ts";
