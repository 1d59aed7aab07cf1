import type { DeploymentSummary } from "../deployment/internal.ts";
import type { AuthMode } from "../project/project.schema.ts";
import type {
  BuildManifest,
  BuildStatus,
  BuildTimings,
  BuildTrigger,
  BuildWarning,
  Diagnosis,
} from "./build-contract.schema.ts";

/** The specification's Build without its manifest, which lists do not need and can be large. */
export type BuildSummary = {
  readonly id: string;
  readonly status: BuildStatus;
  readonly trigger: BuildTrigger;
  readonly commitSha: string;
  readonly commitMessage: string | null;
  readonly commitAuthor: string | null;
  readonly prNumber: number | null;
  readonly prUrl: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly diagnosis: Diagnosis | null;
  /** How many warnings a build has that succeeded all the same. */
  readonly warningCount: number;
  readonly githubRepository: {
    readonly id: number;
    readonly name: string;
    readonly defaultBranch: string;
    readonly fullName: string;
  } | null;
  readonly branch: { readonly id: string; readonly name: string };
  readonly deployment: DeploymentSummary | null;
  readonly project: {
    readonly id: string;
    readonly name: string;
    readonly orgSlug: string;
    readonly authMode: AuthMode;
    readonly defaultBranch: string;
    readonly isPublic: boolean;
  };
};

export type BuildView = BuildSummary & {
  /** Null until the server answered, and when its lists could not be read (`warnings` says why). */
  readonly manifest: BuildManifest;
  /** Problems that did not fail the build. */
  readonly warnings: readonly BuildWarning[];
  readonly timings: BuildTimings;
  readonly entrypoint: string;
  readonly requirements: string | null;
  readonly pythonVersion: string | null;
  readonly attempt: number;
};

export type BuildPage = { readonly data: readonly BuildSummary[]; readonly hasMore: boolean };
