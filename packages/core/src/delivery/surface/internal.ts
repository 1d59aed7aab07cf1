export { surfaceChangesOf } from "./get-surface-changes.ts";
