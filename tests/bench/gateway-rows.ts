import { randomUUID } from "node:crypto";
import { createSigningKeys, newApiKey } from "@towpath/auth/credentials";
import type { openDatabase } from "@towpath/db";

type Pool = ReturnType<typeof openDatabase>["pool"];

/** Creates a server with a live deployment, in an organization of its own. Returns the deployment's id. */
export async function insertServer(pool: Pool, label: string, authMode: string): Promise<string> {
  const [organization, project, branch, build, deployment] = Array.from({ length: 5 }, () => randomUUID());
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Bench', $2)", [organization, label]);
  await pool.query(
    "INSERT INTO project (id, organization_id, name, entrypoint, auth_mode) VALUES ($1, $2, $3, 's.py', $4)",
    [project, organization, label, authMode],
  );
  await pool.query("INSERT INTO branch (id, project_id, name) VALUES ($1, $2, 'main')", [branch, project]);
  await pool.query(
    `INSERT INTO build (id, project_id, branch_id, commit_sha, trigger, sequence, entrypoint)
     VALUES ($1, $2, $3, 'abc', 'push', 1, 's.py')`,
    [build, project, branch],
  );
  await pool.query(
    `INSERT INTO deployment (id, project_id, branch_id, build_id, environment, slug)
     VALUES ($1, $2, $3, $4, 'production', $5)`,
    [deployment, project, branch, build, label],
  );
  await pool.query(
    "INSERT INTO route (label, project_id, branch_id, deployment_id, sequence) VALUES ($1, $2, $3, $4, 1)",
    [label, project, branch, deployment],
  );
  return deployment ?? "";
}

/** An API key of a server's organization. */
export async function insertApiKey(pool: Pool, label: string): Promise<string> {
  const { key, hash } = newApiKey();
  await pool.query(
    "INSERT INTO apikey (id, key, reference_id) VALUES ($1, $2, (SELECT id FROM organization WHERE slug = $3))",
    [randomUUID(), hash, label],
  );
  return key;
}

/** A token as the authorization server issues it, for a member of the server's organization. */
export async function insertAccessToken(
  pool: Pool,
  { label, resource, secret, issuer }: { label: string; resource: string; secret: string; issuer: string },
): Promise<string> {
  const [user, member, grant] = [randomUUID(), randomUUID(), randomUUID()];
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'Bench', 'bench@example.com')`, [user]);
  await pool.query(
    `INSERT INTO member (id, user_id, organization_id, role)
     VALUES ($1, $2, (SELECT id FROM organization WHERE slug = $3), 'member')`,
    [member, user, label],
  );
  await pool.query(
    `INSERT INTO oauth_client (id, kind, name, redirect_uris, token_endpoint_auth_method, grant_types)
     VALUES ('bench', 'registered', 'Bench', '{}', 'none', '{}')`,
  );
  await pool.query(
    `INSERT INTO oauth_grant (id, user_id, client_id, project_id, scopes)
     VALUES ($1, $2, 'bench', (SELECT id FROM project WHERE name = $3), '{mcp}')`,
    [grant, user, label],
  );
  const claims = { sub: user, aud: resource, client_id: "bench", scope: "mcp", jti: grant, towpath_grant: grant };
  return (await createSigningKeys({ pool, secret, issuer }).sign({ typ: "at+jwt", claims, ttlSeconds: 3600 })).token;
}
