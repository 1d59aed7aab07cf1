import { randomUUID } from "node:crypto";
import type { TestDatabase } from "@towpath/db/testing";
import { callerBinding, createSecretBox } from "@towpath/secrets";
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

/** Makes a variable per caller, or no longer. */
export async function setPerCaller(
  { pool }: TestDatabase,
  { projectId }: DeployedServer,
  perCaller = true,
): Promise<void> {
  await pool.query("UPDATE secret SET per_caller = $2 WHERE project_id = $1", [projectId, perCaller]);
}

/** Sets a person's own value of a variable. */
export async function setOwnValue(
  { pool }: TestDatabase,
  { organizationId, projectId }: DeployedServer,
  { userId, keyName, value }: { readonly userId: string; readonly keyName: string; readonly value: string },
): Promise<void> {
  const { rows } = await pool.query("SELECT id, wraps FROM data_key WHERE project_id = $1", [projectId]);
  const row = { organizationId, projectId, id: randomUUID(), keyName, version: 1 };
  const ciphertext = box.encrypt(value, { ...rows[0], organizationId, projectId }, callerBinding({ ...row, userId }));
  await pool.query(
    `INSERT INTO caller_value (id, project_id, organization_id, user_id, key_name, ciphertext, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, now(), now())`,
    [row.id, projectId, organizationId, userId, keyName, ciphertext],
  );
}
