export { chooseRelease, versionCommit } from "./version.ts";
