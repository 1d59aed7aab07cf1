export { getSurfaceChanges, type SurfaceChangesView } from "./get-surface-changes.ts";
