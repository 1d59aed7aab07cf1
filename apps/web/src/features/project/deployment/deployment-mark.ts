import { versionText } from "@towpath/core/delivery/build/version/schema";
import type { DeployedCommit } from "@towpath/core/delivery/deployment";

/** A deployment as a chart over time marks it. */
export const deploymentMark = (
  deployed: Pick<DeployedCommit, "createdAt" | "commitSha" | "packageVersion" | "branch">,
) => ({
  time: deployed.createdAt,
  label: `Deployed ${versionText(deployed)}${deployed.packageVersion === null ? ` of ${deployed.branch}` : ""}`,
});
