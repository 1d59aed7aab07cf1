import { z } from "zod";
import type { Queryable } from "./master-keys.ts";
import type { SecretBinding } from "./secret-box.ts";
import type { StoredSecrets } from "./stored-secrets.ts";

type CallerBinding = Omit<SecretBinding, "secretId" | "environments"> & {
  /** Of the row. */
  readonly id: string;
  readonly userId: string;
};

/** To what a person's own value is bound: for another person, project or name it doesn't open (CAP-1). */
export const callerBinding = ({ id, userId, ...binding }: CallerBinding): SecretBinding => ({
  ...binding,
  secretId: id,
  environments: [`caller ${userId}`],
});

/** A person's own values for a deployment's server. */
export type CallerValues = {
  /** The variables that are per caller in its environment. */
  readonly names: readonly string[];
  /** Those of them that the person has. */
  readonly stored: StoredSecrets;
};

const rowSchema = z.object({
  organizationId: z.uuid(),
  projectId: z.uuid(),
  dataKey: z.object({ id: z.uuid(), wraps: z.record(z.string(), z.string()) }).nullable(),
  names: z.array(z.string()),
  values: z.array(
    z.object({ id: z.uuid(), userId: z.uuid(), keyName: z.string(), version: z.number(), ciphertext: z.string() }),
  ),
});

/**
 * Null when there is no such deployment. The code of a fork (BLD-9) gets nobody's values: it has no such variables.
 * `names` are those of now, so that a change needs no new build.
 */
export async function readCallerValues(
  db: Queryable,
  { deploymentId, userId }: { readonly deploymentId: string; readonly userId: string },
): Promise<CallerValues | null> {
  const { rows } = await db.query(
    `SELECT project.organization_id AS "organizationId", project.id AS "projectId",
       (SELECT json_build_object('id', id, 'wraps', wraps) FROM data_key WHERE project_id = project.id) AS "dataKey",
       own.names, (SELECT coalesce(json_agg(json_build_object('id', id, 'userId', user_id, 'keyName', key_name,
            'version', version, 'ciphertext', ciphertext) ORDER BY key_name), '[]') FROM caller_value
          WHERE project_id = project.id AND user_id = $2 AND key_name = ANY (own.names)) AS values
     FROM deployment JOIN project ON project.id = deployment.project_id
       CROSS JOIN LATERAL (SELECT coalesce(array_agg(key_name ORDER BY key_name), '{}') AS names FROM secret
          WHERE project_id = project.id AND per_caller AND deployment.environment = ANY (environments)
            AND NOT EXISTS (SELECT FROM fork_pull_request fork WHERE fork.branch_id = deployment.branch_id)) own
     WHERE deployment.id = $1`,
    [deploymentId, userId],
  );
  if (rows.length === 0) return null;
  const { organizationId, projectId, dataKey, names, values } = rowSchema.parse(rows[0]);
  const owner = { organizationId, projectId };
  return {
    names,
    stored: {
      dataKey: dataKey && { ...dataKey, ...owner },
      secrets: values.map(({ ciphertext, ...value }) => ({ ...callerBinding({ ...owner, ...value }), ciphertext })),
    },
  };
}

/** Names of the variables for which the person has no value. */
export function missingNames({ names, stored }: CallerValues): string[] {
  const known = new Set(stored.secrets.map(({ keyName }) => keyName));
  return names.filter((name) => !known.has(name));
}
