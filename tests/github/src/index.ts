export { type GitHubStandIn, gitHubSettings, startGitHub } from "./stand-in.ts";
export { type Admin, createAdmin } from "./testing/admin.ts";
export { type ForgeData, writeForgeData } from "./testing/forge-data.ts";
export { createAppJwt, git, startTestForge, type TestForge } from "./testing/test-forge.ts";
