import { setImmediate as nextTurn } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import { z } from "zod";

/** The header for an external server, sealed (`sealUpstreamCredential`). */
const sealedCredentialSchema = z.object({
  header: z.string(),
  ciphertext: z.string(),
  version: z.number(),
  dataKey: z.object({ id: z.uuid(), wraps: z.record(z.string(), z.string()) }),
});

const knownTargetSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("deployment"), deploymentId: z.uuid() }),
  z.object({
    kind: z.literal("external"),
    externalServerId: z.uuid(),
    /** Its MCP endpoint. */
    url: z.url(),
    credential: sealedCredentialSchema.nullable(),
  }),
  z.object({ kind: z.literal("portal"), portalId: z.uuid() }),
]);

/**
 * What a label leads to. Policies and the log treat all kinds alike; only forwarding distinguishes them. During a
 * rolling upgrade a newer version may write kinds that this one does not know: `unknown`, refused with 503.
 */
const targetSchema = z.union([
  knownTargetSchema,
  z
    .object({ kind: z.string(), name: z.string().optional() })
    // `name` as our own snapshots store it.
    .transform(({ kind, name = kind }) => ({ kind: "unknown" as const, name })),
]);

/**
 * Who may call a server, and which of its tools (GW-15). Null lists restrict nothing; null `roles`: the default ones.
 */
const accessSchema = z.object({
  roles: z.array(z.string()).nullable(),
  apiKeyIds: z.array(z.string()).nullable(),
  tools: z.array(z.string()).nullable(),
});
export type Access = z.infer<typeof accessSchema>;

const rateSchema = z.object({ perMinute: z.number().positive(), burst: z.number().positive() });

/** A gradual release (decision 080) of the server. Gone back: new calls don't reach its version, and its sessions end. */
const releaseSchema = z.object({
  id: z.uuid(),
  /** The new version. */
  deploymentId: z.uuid(),
  isRunning: z.boolean(),
  /** Percent of the new sessions that it gets. */
  share: z.number(),
  /** Whether sessions are dealt out; else callers are, as the server has no sessions. */
  hasSessions: z.boolean(),
  /** As of the route. */
  answersAsleep: z.boolean(),
});

/** All that the gateway knows of a server. */
export const routeSchema = z.object({
  /** Host label, lower case. */
  label: z.string(),
  /** All labels with the same target: a renamed server has several. Snapshots of earlier versions lack it. */
  labels: z.array(z.string()).default([]),
  /** Domains of its own that lead to the label. Snapshots of earlier versions lack it. */
  domains: z.array(z.string()).default([]),
  organizationId: z.uuid(),
  projectId: z.uuid(),
  /** The branch whose deployments it leads to; null for other targets. Snapshots of earlier versions lack it. */
  branchId: z.uuid().nullable().default(null),
  target: targetSchema,
  authMode: z.enum(["passthrough", "towpath-cloud", "towpath-public"]),
  capturePayloads: z.boolean(),
  /** Null: the defaults. Snapshots of earlier versions lack it. */
  access: accessSchema.nullable().default(null),
  /** The valid generation of admin JWTs. Snapshots of earlier versions lack it. */
  adminJwtGeneration: z.number().default(0),
  /** Whether the server gets a signed assertion of who calls. */
  identityAssertion: z.boolean().default(false),
  /** The server's own limits, where its organization set lower ones than the instance's (GW-8). */
  limits: z.object({ caller: rateSchema.nullable(), server: rateSchema.nullable() }).nullable().default(null),
  /** The registry's public entry for the server; null for previews, and if there is none. */
  listing: z.object({ name: z.string(), description: z.string().nullable() }).nullable().default(null),
  /** Whether recorded answers may be given while the server is asleep (GW-12). */
  answersAsleep: z.boolean().default(false),
  /** The variables for which each caller has a value, and an instance, of their own (CAP-1). Snapshots of earlier versions lack it. */
  perCaller: z.array(z.string()).default([]),
  /** How long results of calls are kept (CAP-2); 0: they aren't. Snapshots of earlier versions lack it. */
  keepResultsMinutes: z.number().default(0),
  /** How long a call may run without its client. */
  unattendedMinutes: z.number().default(60),
  /** The tools whose calls are sampled for replays (CAP-4), and for how long; null: none. Snapshots of earlier versions lack it. */
  replay: z
    .object({ tools: z.array(z.string()), keepDays: z.number() })
    .nullable()
    .default(null),
  /** Running, or the last one if that went back. Snapshots of earlier versions lack it. */
  release: releaseSchema.nullable().default(null),
});
export type Route = z.infer<typeof routeSchema>;

/** An external server's address and credential. */
export type ExternalTarget = Extract<Route["target"], { kind: "external" }>;

/** The deployment that a label leads to; null for other targets. A running release has another one beside it. */
export function deploymentOf({ target }: Route): string | null {
  return target.kind === "deployment" ? target.deploymentId : null;
}

/** The deployments that get new calls: that of the label, and that of a running release. */
export function currentDeployments(route: Route): string[] {
  const { release } = route;
  const live = deploymentOf(route);
  return [...(live === null ? [] : [live]), ...(release?.isRunning ? [release.deploymentId] : [])];
}

/** Whether recorded answers may be given for a deployment while its server is asleep. */
export function answersAsleep(route: Route, deploymentId: string | null): boolean {
  if (deploymentId === deploymentOf(route)) return route.answersAsleep;
  const { release } = route;
  return release?.isRunning === true && release.deploymentId === deploymentId && release.answersAsleep;
}

/** The routes of a project. `digest` changes whenever one of them does. */
export type ProjectRoutes = { readonly projectId: string; readonly digest: string; readonly routes: readonly Route[] };

/** Reads of one state of the database. */
export type RouteReader = {
  /** The digest of every project that has routes, by its id. */
  digests: () => Promise<ReadonlyMap<string, string>>;
  /** Those of the projects that have routes. */
  load: (projectIds: readonly string[] | "all") => Promise<ProjectRoutes[]>;
  /** The projects of which these labels are former names. */
  ownersOfFormer: (labels: readonly string[]) => Promise<string[]>;
};

export type ReadModel = {
  /** Calls back with a reader that sees the same state at each call. */
  read: <Result>(work: (reader: RouteReader) => Promise<Result>) => Promise<Result>;
};

/** Reads routes with their settings. Skips those that this version cannot parse: a 404. */
export function createReadModel(pool: Pool): ReadModel {
  return {
    async read(work) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
        const result = await work(createReader(client));
        await client.query("COMMIT");
        client.release();
        return result;
      } catch (error) {
        // Its transaction may be open.
        client.release(true);
        throw error;
      }
    },
  };
}

const createReader = (client: PoolClient): RouteReader => ({
  async digests() {
    const { rows } = await client.query<{ digests: Record<string, string> | null }>(
      `SELECT json_object_agg(project_id, digest) AS digests FROM (${projectRoutes("")}) found`,
    );
    return new Map(Object.entries(rows[0]?.digests ?? {}));
  },
  async ownersOfFormer(labels) {
    const text = "SELECT DISTINCT project_id FROM former_name WHERE name = ANY ($1)";
    const { rows } = await client.query<{ project_id: string }>(text, [labels]);
    return rows.map(({ project_id }) => project_id);
  },
  async load(projectIds) {
    const isAll = projectIds === "all";
    const { rows } = await client.query<LoadedRow>(
      projectRoutes(isAll ? "" : "WHERE project.id = ANY ($1)"),
      isAll ? [] : [projectIds],
    );
    const loaded: ProjectRoutes[] = [];
    for (let at = 0; at < rows.length; at += parsedTogether) {
      // Calls get their turn between the parts.
      if (at > 0) await nextTurn();
      loaded.push(...rows.slice(at, at + parsedTogether).map(projectRoutesOf));
    }
    return loaded;
  },
});

type LoadedRow = { readonly project_id: string; readonly digest: string; readonly routes: readonly unknown[] };

/** Parsing so many takes a few milliseconds. */
const parsedTogether = 100;

const projectRoutesOf = ({ project_id: projectId, digest, routes }: LoadedRow): ProjectRoutes => ({
  projectId,
  digest,
  routes: routes.flatMap((route) => routeSchema.safeParse(route).data ?? []),
});

const projectRoutes = (where: string) => `SELECT project_id, md5(routes::text) AS digest, routes
  FROM (SELECT "projectId" AS project_id, json_agg(route ORDER BY label) AS routes
    FROM (${routesQuery} ${where}) route GROUP BY "projectId") project_routes`;

const routesQuery = `
  SELECT address.label, address.labels,
    CASE WHEN address.label = lower(project.name) THEN coalesce(own.names, '{}') ELSE '{}' END AS domains, project.organization_id AS "organizationId", project.id AS "projectId",
    route.branch_id AS "branchId",
    json_build_object('kind', route.target_kind, 'deploymentId', route.deployment_id,
      'externalServerId', route.external_server_id, 'portalId', route.portal_id, 'url', external.url,
      'credential', CASE WHEN external.credential_ciphertext IS NOT NULL THEN json_build_object(
        'header', external.credential_header, 'ciphertext', external.credential_ciphertext,
        'version', external.credential_version,
        'dataKey', json_build_object('id', data_key.id, 'wraps', data_key.wraps)) END) AS target,
    project.auth_mode AS "authMode", project.capture_payloads AS "capturePayloads",
    project.keep_results_minutes AS "keepResultsMinutes", project.unattended_minutes AS "unattendedMinutes",
    CASE WHEN policy.project_id IS NOT NULL THEN json_build_object('roles', policy.roles,
      'apiKeyIds', policy.api_key_ids, 'tools', policy.tools) END AS access,
    project.admin_jwt_generation AS "adminJwtGeneration", project.identity_assertion AS "identityAssertion",
    CASE WHEN call_limit.project_id IS NOT NULL THEN json_build_object(
      'caller', CASE WHEN call_limit.caller_per_minute IS NOT NULL THEN
        json_build_object('perMinute', call_limit.caller_per_minute, 'burst', call_limit.caller_burst) END,
      'server', CASE WHEN call_limit.server_per_minute IS NOT NULL THEN
        json_build_object('perMinute', call_limit.server_per_minute, 'burst', call_limit.server_burst) END)
    END AS limits,
    CASE WHEN project.is_public AND branch.is_default IS NOT FALSE THEN
      json_build_object('name', project.name, 'description', project.description) END AS listing,
    recorded.build_id IS NOT NULL AND project.auth_mode <> 'passthrough'
      AND (project.sleeping_lists = 'always' OR project.sleeping_lists = 'stable' AND recorded.varies_by IS NULL
        OR own_values.names IS NOT NULL)
      AS "answersAsleep", coalesce(own_values.names, '{}') AS "perCaller",
    CASE WHEN project.replay IS NOT NULL AND branch.is_default AND project.auth_mode <> 'passthrough'
      AND own_values.names IS NULL THEN json_build_object('keepDays', (project.replay ->> 'keepDays')::int, 'tools',
        (SELECT coalesce(json_agg(tool ->> 'tool_name'), '[]') FROM build, json_array_elements(build.manifest -> 'tools') AS tool
          WHERE build.id = deployment.build_id AND (tool -> 'annotations' ->> 'readOnlyHint' = 'true'
            OR project.replay -> 'tools' ? (tool ->> 'tool_name'))))
    END AS replay,
    CASE WHEN release.id IS NOT NULL THEN json_build_object('id', release.id, 'deploymentId', release.deployment_id,
      'isRunning', release.is_running, 'share', release.share, 'hasSessions', release.has_sessions,
      'answersAsleep', release.is_recorded AND project.auth_mode <> 'passthrough'
        AND (project.sleeping_lists = 'always' OR project.sleeping_lists = 'stable' AND release.varies_by IS NULL
          OR own_values.names IS NOT NULL))
    END AS release
  FROM route JOIN project ON project.id = route.project_id
    LEFT JOIN branch ON branch.id = route.branch_id
    LEFT JOIN LATERAL (SELECT array_agg(former.name ORDER BY former.name) AS names FROM former_name former
      WHERE former.project_id = project.id AND former.expires_at > now() AND route.label = lower(project.name)
        AND NOT EXISTS (SELECT FROM route taken WHERE taken.label = former.name)) former ON true
    CROSS JOIN LATERAL (SELECT label, lower(route.label) || coalesce(former.names, '{}') AS labels
      FROM unnest(lower(route.label) || coalesce(former.names, '{}')) AS label) address
    LEFT JOIN LATERAL (SELECT array_agg(domain.name ORDER BY domain.name) AS names FROM domain
      WHERE domain.project_id = project.id AND domain.active_at IS NOT NULL) own ON true
    LEFT JOIN deployment ON deployment.id = route.deployment_id
    LEFT JOIN LATERAL (SELECT array_agg(secret.key_name ORDER BY secret.key_name) AS names FROM secret
      WHERE secret.project_id = project.id AND secret.per_caller AND deployment.environment = ANY (secret.environments)
        AND NOT EXISTS (SELECT FROM fork_pull_request fork WHERE fork.branch_id = deployment.branch_id)) own_values ON true
    LEFT JOIN recorded_answers recorded ON recorded.build_id = deployment.build_id
    LEFT JOIN LATERAL (SELECT latest.id, latest.candidate_deployment_id AS deployment_id, latest.share,
        latest.has_sessions, latest.state = 'running' AS is_running, answers.build_id IS NOT NULL AS is_recorded,
        answers.varies_by
      FROM gradual_release latest JOIN deployment candidate ON candidate.id = latest.candidate_deployment_id
        LEFT JOIN recorded_answers answers ON answers.build_id = candidate.build_id
      WHERE latest.branch_id = route.branch_id AND latest.stable_deployment_id = route.deployment_id
        AND (latest.state = 'running' OR latest.state = 'went-back' AND latest.ended_at > route.updated_at)
      ORDER BY latest.started_at DESC LIMIT 1) release ON true
    LEFT JOIN external_server external ON external.id = route.external_server_id
    LEFT JOIN data_key ON external.id IS NOT NULL AND data_key.project_id = project.id
    LEFT JOIN access_policy policy ON policy.project_id = project.id
    LEFT JOIN call_limit ON call_limit.project_id = project.id`;
