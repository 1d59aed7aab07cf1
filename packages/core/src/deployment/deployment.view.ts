import type { BuildManifest, BuildStatus } from "../build/build-contract.schema.ts";
import type { DeploymentSummary } from "./deployment-summary.ts";

export type DeploymentView = DeploymentSummary & {
  readonly environment: "production" | "preview";
  readonly buildId: string;
  readonly branch: { readonly id: string; readonly name: string; readonly isDefault: boolean };
  readonly project: { readonly id: string; readonly name: string; readonly orgSlug: string };
};

/** The specification's "Branch with deployment". `deployment` is the one that is live on the branch. */
export type BranchView = {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly prNumber: number | null;
  readonly prUrl: string | null;
  readonly latestBuild: {
    readonly id: string;
    readonly status: BuildStatus;
    readonly commitSha: string;
    readonly commitMessage: string | null;
    readonly manifest: BuildManifest;
    readonly createdAt: string;
  } | null;
  readonly deployment: {
    readonly id: string;
    readonly slug: string;
    readonly isLive: boolean;
    readonly url: string;
  } | null;
};
