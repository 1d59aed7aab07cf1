/** For other entities of core. Checks no access, so it isn't exported from the package. */

export type { ReplayDocument } from "./replay.schema.ts";
export { openDocument, type ReplayRow, verdictText } from "./replay.view.ts";
export { requestReplay } from "./request-replay.ts";
