import type { Pool } from "pg";

/** How many calls of a project are kept. */
const maxOfProject = 200;

/** `sealed`: the arguments, for this id. `shape`, `fingerprint`: keyed hashes. */
export type SampledRow = {
  readonly id: string;
  readonly tool: string;
  readonly shape: string;
  readonly fingerprint: string;
  readonly sealed: string;
  readonly sampledAt: Date;
  readonly expiresAt: Date;
};

/**
 * Adds calls to a project's sample, unless the project doesn't ask for one any more, and removes what is beyond its bound: it
 * is spread over tools, within these over shapes of arguments, and has the newest of each. The row of the project stays
 * locked meanwhile, so that nothing comes after the sample was deleted.
 */
export async function storeSamples(pool: Pool, projectId: string, rows: readonly SampledRow[]): Promise<void> {
  const column = <Key extends keyof SampledRow>(key: Key) => rows.map((row) => row[key]);
  await pool.query(
    `WITH asking AS MATERIALIZED (SELECT id FROM project WHERE id = $1 AND replay IS NOT NULL FOR SHARE)
     INSERT INTO sampled_call AS known (project_id, id, tool, shape, fingerprint, sealed, sampled_at, expires_at)
     SELECT asking.id, s.* FROM asking, unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
       $8::timestamptz[]) AS s (id, tool, shape, fingerprint, sealed, sampled_at, expires_at)
     ON CONFLICT (project_id, fingerprint) DO UPDATE SET sampled_at = excluded.sampled_at, expires_at = excluded.expires_at
       WHERE known.sampled_at < excluded.sampled_at`,
    [
      projectId,
      column("id"),
      column("tool"),
      column("shape"),
      column("fingerprint"),
      column("sealed"),
      column("sampledAt"),
      column("expiresAt"),
    ],
  );
  await pool.query(
    `DELETE FROM sampled_call WHERE id IN (
       SELECT id FROM (
         SELECT id, sampled_at, row_number() OVER (PARTITION BY tool ORDER BY of_shape, sampled_at DESC) AS of_tool
         FROM (SELECT id, tool, sampled_at, row_number() OVER (PARTITION BY shape ORDER BY sampled_at DESC) AS of_shape
           FROM sampled_call WHERE project_id = $1) AS shapes) AS tools
       ORDER BY of_tool, sampled_at DESC OFFSET ${maxOfProject})`,
    [projectId],
  );
}
