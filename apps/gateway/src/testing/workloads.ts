import { randomUUID } from "node:crypto";
import type { Rig } from "./rig.ts";

type Stored = {
  subjects?: string[];
  projectIds?: string[] | null;
  jwksUrl?: string;
  keySet?: string;
};

/** A workload identity of an organization: its id. */
export async function storeWorkloadIdentity(
  rig: Rig,
  organizationId: string,
  issuer: string,
  { subjects = ["system:serviceaccount:agents:*"], projectIds = null, jwksUrl, keySet }: Stored = {},
): Promise<string> {
  const id = randomUUID();
  await rig.database.pool.query(
    `INSERT INTO workload_identity (id, organization_id, name, issuer, jwks_url, key_set, subjects, project_ids)
     VALUES ($1, $2, 'Agents', $3, $4, $5, $6, $7)`,
    [id, organizationId, issuer, jwksUrl ?? null, keySet ?? null, subjects, projectIds],
  );
  return id;
}
