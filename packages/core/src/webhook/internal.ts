export { checkBranches } from "./sync-installation.ts";
