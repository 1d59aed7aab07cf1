import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase } from "./testing/test-database.ts";

const database = openTestDatabase();
let listener: pg.Client;
const received: string[] = [];
beforeAll(async () => {
  listener = new pg.Client({ connectionString: database.url });
  await listener.connect();
  listener.on("notification", ({ channel }) => received.push(channel));
  await listener.query("LISTEN towpath_oauth_grant");
});
afterAll(async () => {
  await listener.end();
});

/** How many notifications a statement causes. */
async function notifications(statement: string, values: unknown[]): Promise<number> {
  received.length = 0;
  await database.pool.query(statement, values);
  // Notifications that were committed before arrive with the answer to the listener's next query.
  await listener.query("SELECT 1");
  return received.length;
}

test("GW-5 revoked and deleted grants are notified, cascades included, and nothing else", async () => {
  const [organization, project, user, other] = Array.from({ length: 4 }, () => randomUUID());
  const { pool } = database;
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Acme', 'acme')", [organization]);
  await pool.query(
    "INSERT INTO project (id, organization_id, name, entrypoint) VALUES ($1, $2, 'server', 'server.py')",
    [project, organization],
  );
  for (const id of [user, other]) {
    await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'U', $1::uuid::text)`, [id]);
  }
  await pool.query(
    `INSERT INTO oauth_client (id, kind, name, redirect_uris, token_endpoint_auth_method, grant_types)
     VALUES ('client', 'registered', 'Client', '{}', 'none', '{}')`,
  );
  const grant = `INSERT INTO oauth_grant (id, user_id, client_id, project_id, scopes) VALUES ($1, $2, 'client', $3, '{mcp}')`;
  const id = randomUUID();
  expect(await notifications(grant, [id, user, project])).toBe(0);
  await expect(pool.query(grant, [randomUUID(), user, project])).rejects.toThrow("oauth_grant_current");
  expect(await notifications("UPDATE oauth_grant SET last_used_at = now() WHERE id = $1", [id])).toBe(0);
  expect(await notifications("UPDATE oauth_grant SET revoked_at = now() WHERE id = $1", [id])).toBe(1);
  expect(await notifications(grant, [randomUUID(), user, project])).toBe(0);
  expect(await notifications(`DELETE FROM "user" WHERE id = $1`, [user])).toBeGreaterThan(0);
  await pool.query(grant, [randomUUID(), other, project]);
  expect(await notifications("DELETE FROM organization WHERE id = $1", [organization])).toBeGreaterThan(0);
  expect((await pool.query("SELECT count(*)::int AS n FROM oauth_grant")).rows[0].n).toBe(0);
});
