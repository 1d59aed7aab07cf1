export { inspectExternal } from "./inspect-external.ts";
export { reachExternal } from "./reach-external.ts";
