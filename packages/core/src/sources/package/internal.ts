export { chooseRelease, packageBranch, versionCommit } from "./version.ts";
