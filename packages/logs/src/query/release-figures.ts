import { noCalls, type ReleaseFigures, type VersionFigures } from "@towpath/core/delivery/gradual-release/schema";
import { Conditions, rowCondition } from "./conditions.ts";
import { logQuerySchema } from "./log-query.schema.ts";
import type { Reader } from "./reader.ts";

/** The two versions of a gradual release, and since when their calls count. */
type Release = {
  readonly projectId: string;
  readonly stableDeploymentId: string;
  readonly candidateDeploymentId: string;
  readonly from: Date;
};

/** Bounds the time of a query on a busy server, whose newest calls say enough. */
const maxCalls = 20_000;

/**
 * Compares the versions of a release by the newest 20,000 calls of both since `from` (CAP-8): requests that use tools,
 * resources or prompts, and all that failed. Read from the rows, as sums hold whole minutes and the waits for servers that
 * start, of which a version with few callers has more.
 */
export async function releaseFigures(reader: Reader, release: Release): Promise<ReleaseFigures> {
  const { projectId, stableDeploymentId, candidateDeploymentId, from } = release;
  const deploymentIds = [stableDeploymentId, candidateDeploymentId];
  const query = logQuerySchema.parse({ projectId, deploymentIds, withoutProtocol: true, isRefused: false });
  const conditions = new Conditions();
  const { rows } = await reader.query<VersionFigures & { deploymentId: string }>(
    `SELECT deployment_id AS "deploymentId", count(*)::int AS calls, count(*) FILTER (WHERE is_error)::int AS errors,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) AS "p50Ms", percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) AS "p95Ms"
     FROM (SELECT deployment_id, is_error, greatest(duration_ms - held_ms, 0) AS ms FROM request_log
       WHERE project_id = ${conditions.value(projectId)} AND time >= ${conditions.value(from)} AND kind = 'request'
         AND principal <> 'check'
         AND ${rowCondition(query, conditions)}
       ORDER BY time DESC LIMIT ${maxCalls}) AS newest
     GROUP BY 1`,
    conditions.values,
  );
  const of = (id: string): VersionFigures => {
    const found = rows.find(({ deploymentId }) => deploymentId === id);
    if (!found) return noCalls;
    const { calls, errors, p50Ms, p95Ms } = found;
    return { calls, errors, p50Ms, p95Ms };
  };
  return { stable: of(stableDeploymentId), candidate: of(candidateDeploymentId) };
}
