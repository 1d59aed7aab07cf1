import { build, type deployment, project, route } from "@towpath/db/schema";
import { sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { z } from "zod";
import type { Context } from "../../context/index.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import {
  type BuildManifest,
  type BuildStatus,
  type BuildTrigger,
  packageVersionView,
} from "../build/build-contract.schema.ts";

export const deploymentSummarySchema = z.object({
  id: z.uuid(),
  slug: z.string().describe("the label of its address"),
  /** Whether the route points to this deployment. */
  isLive: z.boolean(),
  /** MCP endpoint of the label. */
  url: z.url(),
  createdAt: z.iso.datetime(),
  isProd: z.boolean(),
  isBranch: z.boolean(),
});
export type DeploymentSummary = z.infer<typeof deploymentSummarySchema>;

/** Whether a build's server does its own sign-in. Earlier versions stored a warning in place of it. */
export const ownSignIn = sql<
  boolean | null
>`coalesce(${build.ownSignIn}, CASE WHEN ${build.warnings} @> '[{"code":"sign_in_unreachable"}]' THEN true END)`;

// In a template of its own: drizzle leaves out a column's table where a query has only one.
const authMode = sql`${project.authMode}`;

/** A build's number of warnings, without reading them: as `readWarnings`. Needs the build's project in the query. */
export const warningCount = sql<number>`(
  coalesce(jsonb_array_length(jsonb_path_query_array(${build.warnings}, '$[*] ? (@.code != "sign_in_unreachable")')), 0)
  + coalesce((${ownSignIn} <> (${authMode} = 'passthrough'))::int, 0))`;

/** Whether a route points to the deployment. Needs a left join of `route` on the deployment. */
export const isLiveColumn = sql<boolean>`(${route.deploymentId} IS NOT NULL)`.as("is_live");

/** The version that went live last, before somebody made an earlier one live (PRJ-14). */
export const replacedVersionSchema = z.object({
  deploymentId: z.uuid(),
  buildId: z.uuid(),
  commitSha: z.string(),
  packageVersion: packageVersionView,
  commitMessage: z.string().nullable(),
});
export type ReplacedVersion = z.infer<typeof replacedVersionSchema>;

/**
 * Whether a rollback made the build live: the route keeps the sequence of the newest version that went live. Needs `route`
 * in the query. `of`: the table of the live build.
 */
export const isRolledBack = (of: { readonly sequence: AnyPgColumn } = build) =>
  sql<boolean>`coalesce(${of.sequence} < ${route.sequence}, false)`;

/** The version that a rollback to the build replaced; null without a rollback, or when that version was removed since. */
export const rolledBackFrom = (of: { readonly sequence: AnyPgColumn } = build) => sql<ReplacedVersion | null>`(
  SELECT json_build_object('deploymentId', replaced.id, 'buildId', newest.id, 'commitSha', newest.commit_sha,
    'packageVersion', newest.package_version, 'commitMessage', newest.commit_message)
  FROM build AS newest JOIN deployment AS replaced ON replaced.build_id = newest.id
  WHERE newest.branch_id = ${route.branchId} AND newest.sequence = ${route.sequence} AND ${isRolledBack(of)})`;

export function deploymentSummary(
  ctx: Context,
  row: typeof deployment.$inferSelect,
  isLive: boolean,
): DeploymentSummary {
  return {
    id: row.id,
    slug: row.slug,
    isLive,
    url: mcpUrl(ctx.serverUrlTemplate, row.slug),
    createdAt: row.createdAt.toISOString(),
    isProd: row.environment === "production",
    isBranch: row.environment !== "production",
  };
}

export const deploymentViewSchema = deploymentSummarySchema.extend({
  environment: z.enum(["production", "preview"]),
  buildId: z.uuid(),
  branch: z.object({ id: z.uuid(), name: z.string(), isDefault: z.boolean() }),
  project: z.object({ id: z.uuid(), name: z.string(), orgSlug: z.string() }),
});
export type DeploymentView = z.infer<typeof deploymentViewSchema>;

/** The specification's "Branch with deployment". `deployment`: the live one. */
export type BranchView = {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly prNumber: number | null;
  readonly prUrl: string | null;
  /** A pull request from a fork of which no commit was approved yet (BLD-9). */
  readonly isUnbuiltFork: boolean;
  /** The newest push, if it built nothing because it changes no watched path (BLD-15). */
  readonly skipped: { readonly commitSha: string; readonly commitMessage: string | null; readonly at: string } | null;
  readonly latestBuild: {
    readonly id: string;
    readonly status: BuildStatus;
    readonly commitSha: string;
    readonly packageVersion: string | null;
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
  /** The build of the live deployment. */
  readonly liveBuild: {
    readonly id: string;
    readonly commitSha: string;
    readonly commitMessage: string | null;
    readonly commitAuthor: string | null;
    readonly trigger: BuildTrigger;
    readonly createdAt: string;
    readonly packageVersion: string | null;
    /** When the route was pointed to it. */
    readonly liveSince: string;
    readonly isRolledBack: boolean;
    readonly rolledBackFrom: ReplacedVersion | null;
  } | null;
};
