import { build, type deployment, route } from "@towpath/db/schema";
import { sql } from "drizzle-orm";
import type { Context } from "../context/index.ts";
import { mcpUrl } from "../server-url/index.ts";

export type DeploymentSummary = {
  readonly id: string;
  /** Host label. */
  readonly slug: string;
  /** Whether the route points to this deployment. */
  readonly isLive: boolean;
  /** MCP endpoint of the label. */
  readonly url: string;
  readonly createdAt: string;
  readonly isProd: boolean;
  readonly isBranch: boolean;
};

/** How many warnings a build has, without reading them. */
export const warningCount = sql<number>`coalesce(jsonb_array_length(${build.warnings}), 0)`;

/** Column for select lists with a left join of `route` on the deployment: whether the route points to it. */
export const isLiveColumn = sql<boolean>`(${route.deploymentId} IS NOT NULL)`.as("is_live");

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
