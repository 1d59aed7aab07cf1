export { followDefaultBranch } from "./follow-default-branch.ts";
export { hintBranch } from "./hint-branch.ts";
export { endBranch } from "./settle-branch.ts";
export { closeFork } from "./settle-fork.ts";
export { checkBranches } from "./sync-installation.ts";
