import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { ReplacedVersion } from "@towpath/core/delivery/deployment";
import { forkOf } from "~/features/shared/project-screen/branch-title.ts";

/** The live version of a branch. */
export type LiveVersion = {
  readonly commitSha: string;
  readonly packageVersion: string | null;
  readonly isRolledBack: boolean;
  readonly rolledBackFrom: ReplacedVersion | null;
};

export const rolledBackText = (live: Pick<LiveVersion, "commitSha" | "packageVersion">): string =>
  `Rolled back to ${versionText(live)}`;

/** Text of what the next version of a branch does. */
export function nextVersionText({ packageVersion }: Pick<LiveVersion, "packageVersion">, branch: string): string {
  if (packageVersion !== null) return "The next version that is deployed goes live as usual.";
  if (forkOf(branch) !== null) return "The next push to the pull request waits for approval as usual.";
  return `The next push to ${branch} goes live as usual.`;
}
