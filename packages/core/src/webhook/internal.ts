export { lookAtBranches } from "./sync-installation.ts";
