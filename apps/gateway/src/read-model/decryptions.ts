import type { Pool } from "pg";
import { newRequestId } from "../record/request-id.ts";

type Decryption = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** Puts the decryption of an external server's credential into the audit log (KEY-2). */
export type AuditDecryption = (decryption: Decryption) => Promise<void>;

export function createAuditDecryption(pool: Pool): AuditDecryption {
  return async ({ organizationId, projectId, subject, detail }) => {
    await pool.query(
      `INSERT INTO audit_log (id, organization_id, project_id, actor, action, subject, detail)
       VALUES ($1, $2, $3, 'job:gateway', 'externalServer.decrypt', $4, $5)`,
      [newRequestId(Date.now()), organizationId, projectId, subject, detail],
    );
  };
}
