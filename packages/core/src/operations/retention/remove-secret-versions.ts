import { sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { type Removal, runParts, type SweepInput } from "./sweep-parts.ts";

const batchRows = 1000;

/**
 * Removes versions of variables that were replaced or deleted, once neither a deployment nor a build under way refers to
 * them: then no server can start with them any more.
 */
export async function removeSecretVersions({ ctx, input }: Call<SweepInput>): Promise<Removal> {
  authorizePlatform(ctx);
  return runParts(input, [
    {
      name: "secret_version",
      async run() {
        const { rowCount } = await ctx.db.execute(sql`
          DELETE FROM secret_version WHERE id = ANY (ARRAY(
            SELECT kept.id FROM secret_version kept
            WHERE NOT EXISTS (SELECT FROM secret WHERE secret.id = kept.secret_id AND secret.version = kept.version)
              AND NOT EXISTS (SELECT FROM build LEFT JOIN deployment ON deployment.build_id = build.id
                WHERE build.project_id = kept.project_id AND kept.id = ANY (build.secret_version_ids)
                  AND (deployment.id IS NOT NULL OR build.status = 'building'))
            LIMIT ${batchRows}))`);
        return rowCount ?? 0;
      },
    },
  ]);
}
