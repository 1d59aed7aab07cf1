import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createSigningKeys, newApiKey } from "@towpath/auth/credentials";
import type { Target } from "./load.ts";
import { deployEchoes, endpointOf, privateServer, type Rig } from "./rig.ts";

export type Callers = {
  /** The private server as called by an API key, by an OAuth token, and by a key of a person. */
  readonly targets: readonly Target[];
  /** Headers with a key that is valid, and was never shown to the gateway. */
  readonly stranger: Readonly<Record<string, string>>;
  /** Revokes the API key. */
  revokeKey(): Promise<void>;
  stop(): void;
};

/** A client renews its token long before it expires. */
const renewMs = 60_000;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Deploys a private server and makes callers of all kinds for it. */
export async function createCallers(rig: Rig): Promise<Callers> {
  const { database, dataDirectory } = rig;
  await deployEchoes(dataDirectory, [privateServer]);
  const { rows } = await database.query(
    "SELECT project.id, project.organization_id FROM route JOIN project ON project.id = project_id WHERE label = $1",
    [privateServer],
  );
  const { id: projectId, organization_id: organizationId } = rows[0];
  const [userId, clientId, grantId] = [randomUUID(), randomUUID(), randomUUID()];
  await database.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'Chaos', $1::uuid::text)`, [userId]);
  await database.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, 'member')", [
    randomUUID(),
    organizationId,
    userId,
  ]);
  await database.query(
    `INSERT INTO oauth_client (id, kind, name, redirect_uris, token_endpoint_auth_method, grant_types)
     VALUES ($1, 'registered', 'Chaos', '{}', 'none', '{}')`,
    [clientId],
  );
  await database.query(
    "INSERT INTO oauth_grant (id, user_id, client_id, project_id, scopes) VALUES ($1, $2, $3, $4, '{mcp}')",
    [grantId, userId, clientId, projectId],
  );
  const addKey = async (owner: string | null) => {
    const made = newApiKey();
    await database.query("INSERT INTO apikey (id, key, reference_id, user_id) VALUES ($1, $2, $3, $4)", [
      randomUUID(),
      made.hash,
      organizationId,
      owner,
    ]);
    return made;
  };
  const [key, personal, stranger] = [await addKey(null), await addKey(userId), await addKey(null)];

  const url = endpointOf(rig, privateServer);
  const identity: { secret: string } = JSON.parse(await readFile(join(dataDirectory, "instance.json"), "utf8"));
  const keys = createSigningKeys({ pool: database, secret: identity.secret, issuer: new URL(rig.url).origin });
  const sign = () =>
    keys.sign({
      typ: "at+jwt",
      claims: { sub: userId, aud: url, client_id: clientId, scope: "mcp", jti: randomUUID(), towpath_grant: grantId },
      ttlSeconds: 600,
    });
  let { token } = await sign();
  const renewing = setInterval(() => {
    void sign().then(
      (signed) => {
        token = signed.token;
      },
      () => {},
    );
  }, renewMs);
  return {
    targets: [
      { url, headers: () => bearer(key.key) },
      { url, headers: () => bearer(token) },
      { url, headers: () => bearer(personal.key), tool: "watch" },
    ],
    stranger: bearer(stranger.key),
    async revokeKey() {
      await database.query("UPDATE apikey SET enabled = false WHERE key = $1", [key.hash]);
    },
    stop: () => clearInterval(renewing),
  };
}
