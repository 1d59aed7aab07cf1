export { defaultExtractLimits, type ExtractLimits, extractSource } from "./extract.ts";
export { digestOf, type SourceEntry, type SourceTree, subtree } from "./source-tree.ts";
