import { openSecrets, readDeploymentSecrets, type SecretBox, versionsOf } from "@towpath/secrets";
import type { Pool } from "pg";
import { newRequestId } from "../record/request-id.ts";

/** The variables that a deployment was built with, by name; null when there is no such deployment. */
export type ReadVariables = (deploymentId: string) => Promise<Readonly<Record<string, string>> | null>;

/** Reads and decrypts them. Each decryption is audited first (KEY-2). Rejects if one doesn't open. */
export function createVariableReader(pool: Pool, box: SecretBox): ReadVariables {
  return async (deploymentId) => {
    const stored = await readDeploymentSecrets(pool, deploymentId);
    const [first] = stored?.secrets ?? [];
    if (stored === null) return null;
    if (first === undefined) return {};
    await pool.query(
      `INSERT INTO audit_log (id, organization_id, project_id, actor, action, subject, detail)
       VALUES ($1, $2, $3, 'job:gateway', 'secret.decrypt', $4, $5)`,
      [
        newRequestId(Date.now()),
        first.organizationId,
        first.projectId,
        deploymentId,
        { reason: "redaction", versions: versionsOf(stored) },
      ],
    );
    return openSecrets(box, stored);
  };
}
