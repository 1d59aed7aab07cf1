import { randomUUID } from "node:crypto";
import type { TestDatabase } from "@towpath/db/testing";
import { createSecretBox } from "@towpath/secrets";
import { type DeployedServer, secret } from "./rig.ts";

const box = createSecretBox({ current: secret, previous: [] });

/** Gives a deployment these variables, of which it had none. Call it before the gateway gets a request. */
export async function setVariables(
  { pool }: TestDatabase,
  { organizationId, projectId, deploymentId }: DeployedServer,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const dataKey = box.newDataKey({ id: randomUUID(), organizationId, projectId });
  await pool.query("INSERT INTO data_key (id, organization_id, project_id, wraps) VALUES ($1, $2, $3, $4)", [
    dataKey.id,
    organizationId,
    projectId,
    dataKey.wraps,
  ]);
  for (const [keyName, value] of Object.entries(values)) {
    const secretId = randomUUID();
    const environments = ["production", "preview"];
    const binding = { organizationId, projectId, secretId, keyName, version: 1, environments };
    await pool.query(
      `INSERT INTO secret (id, project_id, key_name, environments, sensitive, version, ciphertext)
       VALUES ($1, $2, $3, $4, true, 1, $5)`,
      [secretId, projectId, keyName, environments, box.encrypt(value, dataKey, binding)],
    );
  }
  await pool.query(
    `UPDATE build SET secret_version_ids = (SELECT array_agg(id) FROM secret_version WHERE project_id = $2)
     FROM deployment WHERE deployment.build_id = build.id AND deployment.id = $1`,
    [deploymentId, projectId],
  );
}
