import { partsOf, type ServerKey } from "@towpath/runner-api";
import {
  openSecrets,
  readCallerValues,
  readDeploymentSecrets,
  type SecretBox,
  type StoredSecrets,
  versionsOf,
} from "@towpath/secrets";
import type { Pool } from "pg";
import { newRequestId } from "../record/request-id.ts";

/**
 * The variables that a deployment was built with, by name, and those that the caller whom alone the server serves has in
 * their place. Null when there is no such deployment.
 */
export type ReadVariables = (server: ServerKey) => Promise<Readonly<Record<string, string>> | null>;

/** Reads and decrypts them. Each decryption is audited first (KEY-2). Rejects if one doesn't open. */
export function createVariableReader(pool: Pool, box: SecretBox): ReadVariables {
  const audit = async (subject: string, { secrets }: StoredSecrets, detail: Readonly<Record<string, unknown>>) => {
    const [first] = secrets;
    if (!first) return;
    const { organizationId, projectId } = first;
    await pool.query(
      `INSERT INTO audit_log (id, organization_id, project_id, actor, action, subject, detail)
       VALUES ($1, $2, $3, 'job:gateway', 'secret.decrypt', $4, $5)`,
      [
        newRequestId(Date.now()),
        organizationId,
        projectId,
        subject,
        { reason: "redaction", versions: versionsOf({ secrets }), ...detail },
      ],
    );
  };
  return async (server) => {
    const { deploymentId, callerId } = partsOf(server);
    const stored = await readDeploymentSecrets(pool, deploymentId);
    if (stored === null) return null;
    const own = callerId === null ? null : await readCallerValues(pool, { deploymentId, userId: callerId });
    await audit(deploymentId, stored, {});
    if (own === null) return openSecrets(box, stored);
    await audit(deploymentId, own.stored, { caller: callerId });
    return { ...openSecrets(box, stored), ...openSecrets(box, own.stored) };
  };
}
