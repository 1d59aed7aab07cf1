import { versionText } from "@towpath/core/build/version/schema";
import type { ReplacedVersion } from "@towpath/core/deployment";

/** What is live, of a branch. */
export type LiveVersion = {
  readonly commitSha: string;
  readonly packageVersion: string | null;
  readonly isRolledBack: boolean;
  readonly rolledBackFrom: ReplacedVersion | null;
};

export const rolledBackText = (live: Pick<LiveVersion, "commitSha" | "packageVersion">): string =>
  `Rolled back to ${versionText(live)}`;
