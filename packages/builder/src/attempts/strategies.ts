import type { Strategy } from "./attempt.ts";
import { pinnedToFailure, pinnedToSource } from "./date-pinned.ts";
import { installed } from "./installed.ts";
import { namedRelease } from "./named-release.ts";

/** In order. */
export const strategies: readonly Strategy[] = [installed, namedRelease, pinnedToFailure, pinnedToSource];
