import { randomUUID } from "node:crypto";
import { createSigningKeys } from "@towpath/auth/credentials";
import { type DeployedServer, type Rig, secret } from "./rig.ts";

/** The URL of a server as people paste it, under the rig's default TOWPATH_SERVER_URL. */
export const resourceOf = (server: { label: string }) => `http://localhost:8080/${server.label}/mcp`;

/** A member who has allowed a client to call a server. */
export async function storeGrant(rig: Rig, server: DeployedServer, role = "member") {
  const [userId, grantId, clientId, familyId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const { pool } = rig.database;
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'U', $1::uuid::text)`, [userId]);
  await pool.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, $4)", [
    randomUUID(),
    server.organizationId,
    userId,
    role,
  ]);
  await pool.query(
    `INSERT INTO oauth_client (id, kind, name, redirect_uris, token_endpoint_auth_method, grant_types)
     VALUES ($1, 'registered', 'Test', '{}', 'none', '{}')`,
    [clientId],
  );
  await pool.query(
    "INSERT INTO oauth_grant (id, user_id, client_id, project_id, scopes) VALUES ($1, $2, $3, $4, '{mcp}')",
    [grantId, userId, clientId, server.projectId],
  );
  return { userId, grantId, clientId, familyId };
}

/** Ends a sign-in as a revoked or replayed token of it does. */
export const endSignIn = (rig: Rig, { grantId, familyId }: Granted) =>
  rig.database.pool.query("UPDATE oauth_grant SET ended_families = array_append(ended_families, $2) WHERE id = $1", [
    grantId,
    familyId,
  ]);

export type Granted = Awaited<ReturnType<typeof storeGrant>>;

type Change = {
  claims?: Record<string, unknown>;
  typ?: "at+jwt" | "towpath-user+jwt";
  issuer?: string;
  ttlSeconds?: number;
  /** When it is issued; by default now. */
  issuedAt?: number;
};

/** An access token under a grant, signed with the instance's own keys. */
export async function accessTokenFor(rig: Rig, server: { label: string }, granted: Granted, change: Change = {}) {
  const { issuer } = rig.config;
  const keys = createSigningKeys({
    pool: rig.database.pool,
    secret,
    issuer: change.issuer ?? issuer,
    now: () => change.issuedAt ?? Date.now(),
  });
  const claims = {
    sub: granted.userId,
    aud: resourceOf(server),
    client_id: granted.clientId,
    scope: "mcp",
    jti: randomUUID(),
    towpath_grant: granted.grantId,
    towpath_family: granted.familyId,
    ...change.claims,
  };
  const { token } = await keys.sign({ typ: change.typ ?? "at+jwt", claims, ttlSeconds: change.ttlSeconds ?? 600 });
  return token;
}
