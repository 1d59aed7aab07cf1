export { beginRelease, stopRelease } from "./begin-release.ts";
export { readPolicy, requireApprover } from "./release-policy.ts";
