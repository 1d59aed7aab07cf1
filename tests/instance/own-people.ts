import { randomUUID } from "node:crypto";
import { newApiKey } from "@towpath/auth/credentials";
import type { openDatabase } from "@towpath/db";

type Pool = ReturnType<typeof openDatabase>["pool"];

/** A member of an organization, with a personal key. */
export type OwnPerson = { readonly userId: string; readonly key: string };

/** The organization of a server. */
export async function organizationOf(pool: Pool, projectName: string): Promise<string> {
  const { rows } = await pool.query("SELECT organization_id AS id FROM project WHERE name = $1", [projectName]);
  return rows[0].id;
}

export async function addOwnPerson(pool: Pool, organizationId: string, name = "Own"): Promise<OwnPerson> {
  const [userId, made] = [randomUUID(), newApiKey()];
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, $2, $3)`, [userId, name, `${userId}@example.com`]);
  await addMembership(pool, organizationId, userId);
  await pool.query("INSERT INTO apikey (id, key, reference_id, user_id, scope) VALUES ($1, $2, $3, $4, 'manage')", [
    randomUUID(),
    made.hash,
    organizationId,
    userId,
  ]);
  return { userId, key: made.key };
}

export const addMembership = (pool: Pool, organizationId: string, userId: string) =>
  pool.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, 'member')", [
    randomUUID(),
    organizationId,
    userId,
  ]);

/** The REST API of one server, as a person or the operator. `url`: of the dashboard. */
export const restOf =
  (url: string, projectName: string) =>
  async (key: string, method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`${url}/api/v1/projects/${projectName}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
