export { fetchFile } from "./fetch-file.ts";
export { inspectExternal } from "./inspect-external.ts";
export { reachExternal } from "./reach-external.ts";
