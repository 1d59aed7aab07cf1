import { manifestSchema } from "@towpath/mcp/manifest";
import type { Pool } from "pg";
import { z } from "zod";

const memberSchema = z.object({
  projectId: z.string(),
  /** Of the route through which the gateway calls it. */
  label: z.string(),
  prefix: z.string(),
  tools: z.array(z.string()).nullable(),
  resources: z.array(z.string()).nullable(),
  prompts: z.array(z.string()).nullable(),
  // An unknown format counts as no manifest.
  manifest: manifestSchema.nullable().catch(null),
});
/** A server of a portal as the gateway calls it. */
export type StoredMember = z.infer<typeof memberSchema>;

export const portalSchema = z.object({
  portalId: z.string(),
  organizationId: z.string(),
  name: z.string(),
  instructions: z.string().nullable(),
  /** Incremented by each change of the portal. */
  revision: z.number(),
  /** Changes with the portal and its servers' lists. */
  version: z.string(),
  members: z.array(memberSchema),
});
export type StoredPortal = z.infer<typeof portalSchema>;

/** Portals by id; `known`: versions that needn't be loaded again. */
export type LoadPortals = (
  portalIds: readonly string[],
  known: ReadonlyMap<string, string>,
) => Promise<{ readonly present: ReadonlySet<string>; readonly changed: readonly StoredPortal[] }>;

/** The members of a portal with the deployment or inspection that provides their lists. */
const membersOf = `
  FROM portal_server member
    JOIN project ON project.id = member.project_id
    LEFT JOIN external_server external ON external.project_id = project.id
    LEFT JOIN LATERAL (
      SELECT deployment.id, deployment.build_id FROM route JOIN branch ON branch.id = route.branch_id
        JOIN deployment ON deployment.id = route.deployment_id
      WHERE route.project_id = project.id AND branch.is_default
    ) live ON true
  WHERE member.portal_id = portal.id AND project.kind <> 'portal'
    AND project.organization_id = project_of_portal.organization_id`;

const version = `concat_ws(' ', portal.revision, project_of_portal.updated_at, (SELECT string_agg(
  concat(member.project_id, lower(project.name), coalesce(live.id::text, external.manifest_at::text)), ','
  ORDER BY member.position) ${membersOf}))`;

export function createLoadPortals(pool: Pool): LoadPortals {
  return async (portalIds, known) => {
    const { rows: versions } = await pool.query<{ id: string; version: string }>(
      `SELECT portal.id, ${version} AS version
       FROM portal JOIN project project_of_portal ON project_of_portal.id = portal.project_id
       WHERE portal.id = ANY ($1)`,
      [portalIds],
    );
    const stale = versions.filter((row) => known.get(row.id) !== row.version).map(({ id }) => id);
    const present = new Set(versions.map(({ id }) => id));
    if (stale.length === 0) return { present, changed: [] };
    const { rows } = await pool.query(
      `SELECT portal.id AS "portalId", project_of_portal.organization_id AS "organizationId", project_of_portal.name,
         portal.instructions, portal.revision, ${version} AS version,
         (SELECT coalesce(json_agg(json_build_object('projectId', project.id, 'label', lower(project.name),
              'prefix', member.prefix, 'tools', member.tools, 'resources', member.resources,
              'prompts', member.prompts, 'manifest', coalesce(external.manifest, build.manifest))
            ORDER BY member.position), '[]')
          ${membersOf.replace("WHERE member", "LEFT JOIN build ON build.id = live.build_id WHERE member")}) AS members
       FROM portal JOIN project project_of_portal ON project_of_portal.id = portal.project_id
       WHERE portal.id = ANY ($1)`,
      [stale],
    );
    return { present, changed: rows.flatMap((row) => portalSchema.safeParse(row).data ?? []) };
  };
}
