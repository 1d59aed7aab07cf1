import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Account } from "./accounts.ts";
import { accountById } from "./accounts.ts";
import type { Database } from "./database.ts";

export const permissionsSchema = z.record(z.string(), z.enum(["read", "write"]));
export type Permissions = z.infer<typeof permissionsSchema>;

const hour = 60 * 60_000;
const lifetimes = {
  session: 30 * 24 * hour,
  code: hour / 6,
  access: 8 * hour,
  refresh: 180 * 24 * hour,
  installation: hour,
};

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function newSecret(prefix: string): string {
  return prefix + randomBytes(30).toString("base64url");
}

export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(createHash("sha256").update(given).digest(), createHash("sha256").update(expected).digest());
}

/**
 * An account's password for `git push`. Derived, so that pages can show it at any time without storing it; it changes
 * with the App's client secret.
 */
export function pushToken(clientSecret: string, account: Account): string {
  const mac = createHmac("sha256", clientSecret).update(`forge push token ${account.id} ${account.created_at}`);
  return `forge_push_${mac.digest("base64url").slice(0, 32)}`;
}

const ownerSchema = z.object({ account_id: z.number() });

export function createSession(database: Database, accountId: number): string {
  const token = newSecret("");
  const expires = Date.now() + lifetimes.session;
  database.run(
    "INSERT INTO session (token_hash, account_id, expires_at_ms) VALUES (?, ?, ?)",
    hashOf(token),
    accountId,
    expires,
  );
  return token;
}

export function accountOfSession(database: Database, token: string): Account | null {
  const sql = "SELECT account_id FROM session WHERE token_hash = ? AND expires_at_ms > ?";
  const row = database.get(ownerSchema, sql, hashOf(token), Date.now());
  return row && accountById(database, row.account_id);
}

export type NewCode = { accountId: number; redirectUri: string; codeChallenge: string | null };

/** Creates an authorization code: valid for ten minutes, for one use. */
export function createCode(database: Database, input: NewCode): string {
  const code = newSecret("");
  database.run(
    "INSERT INTO oauth_code (code_hash, account_id, redirect_uri, code_challenge, expires_at_ms) VALUES (?, ?, ?, ?, ?)",
    hashOf(code),
    input.accountId,
    input.redirectUri,
    input.codeChallenge,
    Date.now() + lifetimes.code,
  );
  return code;
}

const codeSchema = z.object({
  account_id: z.number(),
  redirect_uri: z.string(),
  code_challenge: z.string().nullable(),
  used: z.number(),
});

export type UserTokens = { accessToken: string; refreshToken: string; accessSeconds: number; refreshSeconds: number };

/** Issues tokens of a user who has authorized the App. */
export function issueUserTokens(database: Database, accountId: number, codeHash: string | null = null): UserTokens {
  const accessToken = newSecret("forge_u_");
  const refreshToken = newSecret("forge_r_");
  const insert =
    "INSERT INTO user_token (token_hash, account_id, kind, code_hash, expires_at_ms) VALUES (?, ?, ?, ?, ?)";
  database.run(insert, hashOf(accessToken), accountId, "access", codeHash, Date.now() + lifetimes.access);
  database.run(insert, hashOf(refreshToken), accountId, "refresh", codeHash, Date.now() + lifetimes.refresh);
  const seconds = { accessSeconds: lifetimes.access / 1000, refreshSeconds: lifetimes.refresh / 1000 };
  return { accessToken, refreshToken, ...seconds };
}

/**
 * Null if the code is unknown, expired, used, for another redirect, or if the verifier is wrong. A second use also
 * revokes the tokens of the first one (RFC 6749, section 4.1.2), because one of the two users stole it.
 */
export function exchangeCode(
  database: Database,
  input: { code: string; redirectUri: string | null; codeVerifier: string | null },
): UserTokens | null {
  return database.transaction(() => {
    const codeHash = hashOf(input.code);
    const sql = "SELECT * FROM oauth_code WHERE code_hash = ? AND expires_at_ms > ?";
    const code = database.get(codeSchema, sql, codeHash, Date.now());
    if (code === null) return null;
    if (code.used === 1) {
      database.run("DELETE FROM user_token WHERE code_hash = ?", codeHash);
      return null;
    }
    database.run("UPDATE oauth_code SET used = 1 WHERE code_hash = ?", codeHash);
    if (input.redirectUri !== null && input.redirectUri !== code.redirect_uri) return null;
    const challenge = input.codeVerifier && createHash("sha256").update(input.codeVerifier).digest("base64url");
    if (code.code_challenge !== null && challenge !== code.code_challenge) return null;
    return issueUserTokens(database, code.account_id, codeHash);
  });
}

/** A refresh token works once; the response contains its successor. */
export function refreshUserTokens(database: Database, refreshToken: string): UserTokens | null {
  return database.transaction(() => {
    const sql =
      "DELETE FROM user_token WHERE token_hash = ? AND kind = 'refresh' AND expires_at_ms > ? RETURNING account_id";
    const row = database.get(ownerSchema, sql, hashOf(refreshToken), Date.now());
    return row && issueUserTokens(database, row.account_id);
  });
}

export function accountOfUserToken(database: Database, token: string): Account | null {
  const sql = "SELECT account_id FROM user_token WHERE token_hash = ? AND kind = 'access' AND expires_at_ms > ?";
  const row = database.get(ownerSchema, sql, hashOf(token), Date.now());
  return row && accountById(database, row.account_id);
}

export type InstallationGrant = {
  readonly installationId: number;
  /** Null: every repository of the installation, including future ones. */
  readonly repositoryIds: readonly number[] | null;
  readonly permissions: Permissions;
};

export function createInstallationToken(
  database: Database,
  grant: InstallationGrant,
): { token: string; expiresAt: Date } {
  const token = newSecret("forge_i_");
  const expiresAt = new Date(Date.now() + lifetimes.installation);
  database.run(
    "INSERT INTO installation_token (token_hash, installation_id, repository_ids, permissions, expires_at_ms) VALUES (?, ?, ?, ?, ?)",
    hashOf(token),
    grant.installationId,
    grant.repositoryIds && JSON.stringify(grant.repositoryIds),
    JSON.stringify(grant.permissions),
    expiresAt.getTime(),
  );
  return { token, expiresAt };
}

const json = z.string().transform((text): unknown => JSON.parse(text));
const grantRowSchema = z.object({
  installation_id: z.number(),
  repository_ids: json.pipe(z.array(z.number())).nullable(),
  permissions: json.pipe(permissionsSchema),
});

export function grantOfInstallationToken(database: Database, token: string): InstallationGrant | null {
  const sql = "SELECT * FROM installation_token WHERE token_hash = ? AND expires_at_ms > ?";
  const row = database.get(grantRowSchema, sql, hashOf(token), Date.now());
  if (row === null) return null;
  return { installationId: row.installation_id, repositoryIds: row.repository_ids, permissions: row.permissions };
}
