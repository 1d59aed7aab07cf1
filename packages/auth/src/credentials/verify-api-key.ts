import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { hashApiKey, isWellFormedApiKey } from "./api-key.ts";

/** A valid key: its id and the organization that owns it. */
export type ApiKeyIdentity = { keyId: string; organizationId: string };

/** Channel on which the database says that keys changed; the payload is the key's id. */
export const apiKeyChannel = "towpath_apikey";

/** `expiresInMs`: by the clock of the database. */
type Checked = ApiKeyIdentity & { expiresInMs: number };

/**
 * Checks an API key against the database: known, enabled, not expired. Null when it is not valid.
 * Marks the key as used, at most once a minute.
 *
 * @throws when the database cannot be asked; the caller must then refuse.
 */
export async function verifyApiKey(pool: Pool, key: string): Promise<ApiKeyIdentity | null> {
  const checked = await readKey(pool, key);
  return checked && { keyId: checked.keyId, organizationId: checked.organizationId };
}

async function readKey(pool: Pool, key: string): Promise<Checked | null> {
  if (!isWellFormedApiKey(key)) return null;
  const { rows } = await pool.query(
    `SELECT id, reference_id, extract(epoch FROM expires_at - now())::float8 * 1000 AS expires_in_ms,
       coalesce(last_request < now() - interval '1 minute', true) AS stale
     FROM apikey
     WHERE key = $1 AND enabled IS NOT FALSE AND (expires_at IS NULL OR expires_at > now())`,
    [hashApiKey(key)],
  );
  const row = rows[0];
  if (!row) return null;
  if (row.stale) await pool.query("UPDATE apikey SET last_request = now() WHERE id = $1", [row.id]);
  return {
    keyId: row.id,
    organizationId: row.reference_id,
    expiresInMs: row.expires_in_ms ?? Number.POSITIVE_INFINITY,
  };
}

/** Filters keys: those that are still enabled, have not expired, and still belong to that organization. */
export async function currentApiKeys(pool: Pool, keys: readonly ApiKeyIdentity[]): Promise<ApiKeyIdentity[]> {
  if (keys.length === 0) return [];
  const { rows } = await pool.query<ApiKeyIdentity>(
    `SELECT id AS "keyId", reference_id AS "organizationId"
     FROM apikey
     WHERE (id, reference_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
       AND enabled IS NOT FALSE AND (expires_at IS NULL OR expires_at > now())`,
    [keys.map(({ keyId }) => keyId), keys.map(({ organizationId }) => organizationId)],
  );
  return rows;
}

/** A key check for the hot path: the same answer as `verifyApiKey`, remembered for a short while. */
export type ApiKeyChecker = {
  verify: (key: string) => Promise<ApiKeyIdentity | null>;
  /** Forgets what is remembered of one key, or of all: call it for every notification on `towpath_apikey`. */
  forget: (keyId?: string) => void;
};

/**
 * Makes a checker with an in-process cache. Only valid keys are remembered, for `rememberMs` (at most and by default
 * 30 s) and never past their expiry; a revocation is at once when `forget` is wired to `towpath_apikey`. `now`:
 * milliseconds that only grow, so that a clock set back does not keep a key alive.
 */
export function createApiKeyChecker(
  pool: Pool,
  options: { rememberMs?: number; now?: () => number } = {},
): ApiKeyChecker {
  const rememberMs = Math.min(options.rememberMs ?? 30_000, 30_000);
  const now = options.now ?? (() => performance.now());
  const remembered = new LRUCache<string, { identity: ApiKeyIdentity; until: number }>({ max: 10_000 });
  const pending = new Map<string, Promise<ApiKeyIdentity | null>>();
  // Raised by `forget`: an answer that was read before a revocation must not be remembered after it.
  let generation = 0;

  const ask = async (hash: string, key: string) => {
    const asked = generation;
    const askedAt = now();
    const checked = await readKey(pool, key);
    if (!checked) return null;
    const identity = { keyId: checked.keyId, organizationId: checked.organizationId };
    if (asked === generation) {
      remembered.set(hash, { identity, until: askedAt + Math.min(rememberMs, checked.expiresInMs) });
    }
    return identity;
  };

  return {
    async verify(key) {
      if (!isWellFormedApiKey(key)) return null;
      const hash = hashApiKey(key);
      const hit = remembered.get(hash);
      if (hit && hit.until > now()) return hit.identity;
      const running = pending.get(hash);
      if (running) return running;
      const asking = ask(hash, key).finally(() => {
        if (pending.get(hash) === asking) pending.delete(hash);
      });
      pending.set(hash, asking);
      return asking;
    },
    forget(keyId) {
      generation++;
      pending.clear();
      for (const [hash, entry] of remembered) {
        if (keyId === undefined || entry.identity.keyId === keyId) remembered.delete(hash);
      }
    },
  };
}
