/** For other entities of core. Checks no access, so it isn't exported from the package. */

export { countUseOfCheck, recordUseOfCheck } from "./use-of-check.ts";
