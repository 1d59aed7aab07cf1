import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { hashApiKey, isWellFormedApiKey } from "./api-key.ts";

/** A valid key: its id and the organization that owns it. */
export type ApiKeyIdentity = { keyId: string; organizationId: string };

/** What a valid key may do. */
export type ApiKeyGrant = ApiKeyIdentity & {
  /** The person as whom it acts, whose membership the caller must check; null for a key of the organization. */
  userId: string | null;
  /** The projects that it may call; null: all of the organization. */
  projectIds: readonly string[] | null;
};

/** Channel on which the database announces changed keys; the payload is the key's id. */
export const apiKeyChannel = "towpath_apikey";

/** `expiresInMs`: by the database's clock. */
type Checked = { grant: ApiKeyGrant; expiresInMs: number };

/**
 * Checks in the database whether an API key exists, is enabled and has not expired; null if not. Records that the key
 * was used, at most once a minute.
 *
 * @throws when the database is unavailable; the caller must then reject the request
 */
export async function verifyApiKey(pool: Pool, key: string): Promise<ApiKeyGrant | null> {
  return (await readKey(pool, key))?.grant ?? null;
}

async function readKey(pool: Pool, key: string): Promise<Checked | null> {
  if (!isWellFormedApiKey(key)) return null;
  const { rows } = await pool.query(
    `SELECT id, reference_id, user_id, project_ids, extract(epoch FROM expires_at - now())::float8 * 1000 AS expires_in_ms,
       coalesce(last_request < now() - interval '1 minute', true) AS stale
     FROM apikey
     WHERE key = $1 AND enabled IS NOT FALSE AND (expires_at IS NULL OR expires_at > now())`,
    [hashApiKey(key)],
  );
  const row = rows[0];
  if (!row) return null;
  if (row.stale) await pool.query("UPDATE apikey SET last_request = now() WHERE id = $1", [row.id]);
  return {
    grant: {
      keyId: row.id,
      organizationId: row.reference_id,
      userId: row.user_id,
      projectIds: row.project_ids,
    },
    expiresInMs: row.expires_in_ms ?? Number.POSITIVE_INFINITY,
  };
}

/** Returns those keys that are still enabled, have not expired and still belong to that organization. */
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

/** `verifyApiKey` with a cache, for the hot path. */
export type ApiKeyChecker = {
  verify: (key: string) => Promise<ApiKeyGrant | null>;
  /** Removes one key, or all, from the cache. Call it for each notification on `towpath_apikey`. */
  forget: (keyId?: string) => void;
};

/**
 * Caches valid keys only, for `cacheMs` (by default and at most 30 s) and never beyond their expiry. A revocation takes
 * effect at once if `forget` is called for the notifications on `towpath_apikey`. `now`: monotonic milliseconds, so
 * that setting the clock back doesn't extend a key's life.
 */
export function createApiKeyChecker(pool: Pool, options: { cacheMs?: number; now?: () => number } = {}): ApiKeyChecker {
  const cacheMs = Math.min(options.cacheMs ?? 30_000, 30_000);
  const now = options.now ?? (() => performance.now());
  const cache = new LRUCache<string, { grant: ApiKeyGrant; until: number }>({ max: 10_000 });
  const pending = new Map<string, Promise<ApiKeyGrant | null>>();
  // Incremented by `forget`: a result read before a revocation must not be cached after it.
  let generation = 0;

  const check = async (hash: string, key: string) => {
    const generationBefore = generation;
    const startedAt = now();
    const checked = await readKey(pool, key);
    if (!checked) return null;
    const { grant, expiresInMs } = checked;
    if (generationBefore === generation) {
      cache.set(hash, { grant, until: startedAt + Math.min(cacheMs, expiresInMs) });
    }
    return grant;
  };

  return {
    async verify(key) {
      if (!isWellFormedApiKey(key)) return null;
      const hash = hashApiKey(key);
      const hit = cache.get(hash);
      if (hit && hit.until > now()) return hit.grant;
      const running = pending.get(hash);
      if (running) return running;
      const checking = check(hash, key).finally(() => {
        if (pending.get(hash) === checking) pending.delete(hash);
      });
      pending.set(hash, checking);
      return checking;
    },
    forget(keyId) {
      generation++;
      pending.clear();
      for (const [hash, entry] of cache) {
        if (keyId === undefined || entry.grant.keyId === keyId) cache.delete(hash);
      }
    },
  };
}
