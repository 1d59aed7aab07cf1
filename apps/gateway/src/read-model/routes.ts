import type { Pool } from "pg";
import { z } from "zod";

/** All that the gateway knows of a server. */
export const routeSchema = z.object({
  /** Host label, lower case. */
  label: z.string(),
  organizationId: z.uuid(),
  projectId: z.uuid(),
  deploymentId: z.uuid(),
  authMode: z.enum(["passthrough", "towpath-cloud", "towpath-public"]),
  capturePayloads: z.boolean(),
});
export type Route = z.infer<typeof routeSchema>;

export type ReadModel = { loadRoutes: () => Promise<Route[]> };

/** The gateway's only query of platform data. A row that is not understood is left out: that server then is unknown. */
export function createReadModel(pool: Pool): ReadModel {
  return {
    async loadRoutes() {
      const { rows } = await pool.query(`
        SELECT lower(route.label) AS label, project.organization_id AS "organizationId", project.id AS "projectId",
          route.deployment_id AS "deploymentId", project.auth_mode AS "authMode",
          project.capture_payloads AS "capturePayloads"
        FROM route JOIN project ON project.id = route.project_id
        ORDER BY route.label`);
      return rows.flatMap((row) => {
        const parsed = routeSchema.safeParse(row);
        return parsed.success ? [parsed.data] : [];
      });
    },
  };
}
