import { z } from "zod";
import type { Queryable } from "./master-keys.ts";
import type { DataKey, SecretBinding, SecretBox } from "./secret-box.ts";

/** The variables of one deployment as stored. */
export type StoredSecrets = {
  readonly dataKey: DataKey | null;
  readonly secrets: readonly (SecretBinding & { readonly ciphertext: string })[];
};

const rowSchema = z.object({
  organizationId: z.uuid(),
  projectId: z.uuid(),
  /** Number of versions in the build; null for a build of an earlier release. */
  expected: z.number().nullable(),
  dataKey: z.object({ id: z.uuid(), wraps: z.record(z.string(), z.string()) }).nullable(),
  secrets: z.array(
    z.object({
      secretId: z.uuid(),
      keyName: z.string(),
      version: z.number(),
      environments: z.array(z.string()),
      ciphertext: z.string(),
    }),
  ),
});

/**
 * Reads the variables that a deployment was built with, even if they have changed since; null when there is no such
 * deployment. For builds of releases that didn't keep versions, the current variables.
 *
 * @throws Error when one of them is gone: a server must not start with a missing variable
 */
export async function readDeploymentSecrets(db: Queryable, deploymentId: string): Promise<StoredSecrets | null> {
  const { rows } = await db.query(
    `SELECT project.organization_id AS "organizationId", project.id AS "projectId",
       cardinality(build.secret_version_ids) AS expected,
       (SELECT json_build_object('id', id, 'wraps', wraps) FROM data_key WHERE project_id = project.id) AS "dataKey",
       (SELECT coalesce(json_agg(json_build_object('secretId', kept.secret_id, 'keyName', kept.key_name,
            'version', kept.version, 'environments', kept.environments, 'ciphertext', kept.ciphertext)), '[]')
          FROM secret_version kept LEFT JOIN secret ON secret.id = kept.secret_id AND secret.version = kept.version
          WHERE kept.project_id = project.id AND CASE WHEN build.secret_version_ids IS NULL
            THEN deployment.environment = ANY (secret.environments)
            ELSE kept.id = ANY (build.secret_version_ids) END) AS secrets
     FROM deployment JOIN build ON build.id = deployment.build_id JOIN project ON project.id = deployment.project_id
     WHERE deployment.id = $1`,
    [deploymentId],
  );
  if (rows.length === 0) return null;
  const { organizationId, projectId, expected, dataKey, secrets } = rowSchema.parse(rows[0]);
  if (expected !== null && secrets.length !== expected)
    throw new Error(`deployment ${deploymentId} has lost a version of its variables`);
  const owner = { organizationId, projectId };
  return {
    dataKey: dataKey && { ...dataKey, ...owner },
    secrets: secrets.map((secret) => ({ ...secret, ...owner })),
  };
}

/** Decrypts them, by name. @throws as `SecretBox.decrypt` */
export function openSecrets(box: SecretBox, { secrets, dataKey }: StoredSecrets): Readonly<Record<string, string>> {
  return Object.fromEntries(secrets.map((secret) => [secret.keyName, box.decrypt(secret, dataKey)]));
}

/** For the audit log: the decrypted versions, by name. */
export const versionsOf = ({ secrets }: Pick<StoredSecrets, "secrets">): Readonly<Record<string, number>> =>
  Object.fromEntries(secrets.map(({ keyName, version }) => [keyName, version]));
