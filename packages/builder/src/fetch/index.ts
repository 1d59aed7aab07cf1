export { defaultExtractLimits, type ExtractLimits, extractSource } from "./extract.ts";
export { type SourceTree, subtree } from "./source-tree.ts";
