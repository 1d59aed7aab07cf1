import type { BuildStatus } from "../build/build-contract.schema.ts";
import type { DeploymentSummary } from "../deployment/internal.ts";
import type { AuthMode } from "./project.schema.ts";

export type ProjectView = {
  readonly id: string;
  readonly orgSlug: string;
  readonly name: string;
  /** The project's segment in the dashboard's paths: its name, or its id when a page has that name. */
  readonly pathName: string;
  readonly kind: "hosted" | "external";
  readonly description: string | null;
  readonly authMode: AuthMode;
  readonly isPublic: boolean;
  /** Whether request logs keep redacted payloads. */
  readonly capturePayloads: boolean;
  readonly entrypoint: string;
  readonly requirements: string | null;
  readonly defaultBranch: string;
  readonly githubRepository: {
    readonly id: number;
    readonly name: string;
    readonly fullName: string;
    readonly defaultBranch: string;
    readonly private: boolean;
    readonly installationId: number | null;
  } | null;
  /** MCP endpoint of production, whether something is live there yet or not. */
  readonly url: string;
  readonly isLive: boolean;
  /** Warnings of the build that is live in production: it answers, but not all is as it should be. */
  readonly liveWarnings: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** One project with its newest deployments (at most 20) and the actor's role. */
export type ProjectDetailView = ProjectView & {
  readonly role: "owner" | "admin" | "member" | "viewer";
  readonly deployments: readonly DeploymentSummary[];
};

export type ProjectListItem = ProjectView & {
  readonly latestBuild: {
    readonly id: string;
    readonly status: BuildStatus;
    readonly commitSha: string;
    readonly commitMessage: string | null;
    readonly createdAt: string;
    readonly warningCount: number;
  } | null;
};

export type ProjectNameAvailability =
  | { readonly available: true; readonly reason: null; readonly message: null }
  | { readonly available: false; readonly reason: "invalid" | "reserved" | "taken"; readonly message: string };
