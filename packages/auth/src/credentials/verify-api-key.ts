import type { Pool } from "pg";
import { hashApiKey, isWellFormedApiKey } from "./api-key.ts";
import { ConfirmedCache } from "./confirmed-cache.ts";

/** A valid key: its id and the organization that owns it. */
export type ApiKeyIdentity = { keyId: string; organizationId: string };

/** The rights of a valid key. */
export type ApiKeyGrant = ApiKeyIdentity & {
  /** The person for whom it acts, whose membership the caller must check; null for a key of the organization. */
  userId: string | null;
  /** The projects that it may call; null: all of the organization. */
  projectIds: readonly string[] | null;
};

/** Channel on which the database announces changed keys. */
export const apiKeyChannel = "towpath_apikey";

/** A grant, and whether the key may also manage servers over REST. */
type ApiKeyHolder = ApiKeyGrant & { mayManage: boolean };

/** `expiresInMs`: by the database's clock. `isStale`: its last use was stored more than a minute ago. */
type Checked = { grant: ApiKeyGrant; mayManage: boolean; expiresInMs: number; isStale: boolean };

/**
 * Checks in the database whether an API key exists, is enabled and has not expired; null if not. Records that the key
 * was used, at most once a minute.
 *
 * @throws when the database is unavailable; the caller must then reject the request
 */
export async function verifyApiKey(pool: Pool, key: string): Promise<ApiKeyHolder | null> {
  if (!isWellFormedApiKey(key)) return null;
  const hash = hashApiKey(key);
  const checked = (await readKeys(pool, [hash])).get(hash);
  if (!checked) return null;
  if (checked.isStale) await storeUse(pool, [hash]);
  return { ...checked.grant, mayManage: checked.mayManage };
}

async function readKeys(pool: Pool, hashes: readonly string[]): Promise<Map<string, Checked>> {
  const { rows } = await pool.query(
    `SELECT key, id, reference_id, user_id, project_ids, scope = 'manage' AS may_manage,
       extract(epoch FROM expires_at - now())::float8 * 1000 AS expires_in_ms,
       coalesce(last_request < now() - interval '1 minute', true) AS stale
     FROM apikey
     WHERE key = ANY ($1::text[]) AND enabled IS NOT FALSE AND (expires_at IS NULL OR expires_at > now())`,
    [hashes],
  );
  return new Map(
    rows.map((row): [string, Checked] => {
      const { id: keyId, reference_id: organizationId, user_id: userId, project_ids: projectIds } = row;
      const expiresInMs = row.expires_in_ms ?? Number.POSITIVE_INFINITY;
      const grant = { keyId, organizationId, userId, projectIds };
      return [row.key, { grant, mayManage: row.may_manage, expiresInMs, isStale: row.stale }];
    }),
  );
}

const storeUse = (pool: Pool, hashes: readonly string[]) =>
  pool.query("UPDATE apikey SET last_request = now() WHERE key = ANY ($1::text[])", [hashes]);

/** Why `verifyApiKey` did not accept a key that exists, or existed. */
export type RefusedApiKey = ApiKeyIdentity & { readonly problem: "revoked" | "expired" };

/** Looks a refused key up, for its owner; null if it is unknown, or valid by now. */
export async function explainRefusedApiKey(pool: Pool, key: string): Promise<RefusedApiKey | null> {
  if (!isWellFormedApiKey(key)) return null;
  const { rows } = await pool.query<ApiKeyIdentity & { isEnabled: boolean; isExpired: boolean }>(
    `SELECT id AS "keyId", reference_id AS "organizationId", enabled IS NOT FALSE AS "isEnabled",
       coalesce(expires_at <= now(), false) AS "isExpired"
     FROM apikey WHERE key = $1`,
    [hashApiKey(key)],
  );
  const [row] = rows;
  if (!row || (row.isEnabled && !row.isExpired)) return null;
  const { keyId, organizationId, isEnabled } = row;
  return { keyId, organizationId, problem: isEnabled ? "expired" : "revoked" };
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

const maxUsed = 10_000;
/** A client that keeps using an invalid key costs one query in this time. */
const deniedMs = 5000;

/** `verifyApiKey` with a cache, for the hot path. */
export type ApiKeyChecker = {
  /** At once for a recently confirmed key. Rejects if it was not, and the database is unavailable. */
  verify: (key: string) => ApiKeyGrant | null | Promise<ApiKeyGrant | null>;
  /** Valid keys by their hashes. Call `changed` for each notification on `towpath_apikey`. */
  cache: ConfirmedCache<ApiKeyGrant>;
};

/**
 * Caches valid keys only, for `cacheMs` (by default and at most 30 s), while the database is unavailable for `outageMs`
 * (by default not at all), and never beyond their expiry. `now`: monotonic milliseconds.
 */
export function createApiKeyChecker(
  pool: Pool,
  options: { cacheMs?: number; outageMs?: number; now?: () => number } = {},
): ApiKeyChecker {
  const used = new Set<string>();
  const cache = new ConfirmedCache<ApiKeyGrant>({
    cacheMs: Math.min(options.cacheMs ?? 30_000, 30_000),
    outageMs: options.outageMs ?? 0,
    deniedMs,
    now: options.now,
    async read(hashes) {
      // A refresh is not a use.
      const usedOfThese = hashes.filter((hash) => used.delete(hash));
      const checked = await readKeys(pool, hashes);
      const stale = usedOfThese.filter((hash) => checked.get(hash)?.isStale);
      if (stale.length > 0) void storeUse(pool, stale).catch(() => {});
      return new Map(
        [...checked].map(([hash, { grant, expiresInMs }]) => [hash, { value: grant, endsInMs: expiresInMs }]),
      );
    },
  });
  return {
    cache,
    verify(key) {
      const hash = hashApiKey(key);
      // The form of a known key needs no check, which takes longer than the hash.
      if (!cache.has(hash) && !isWellFormedApiKey(key)) return null;
      // Without a database, unknown keys would stay in it.
      if (used.size >= maxUsed) used.clear();
      used.add(hash);
      return cache.find(hash);
    },
  };
}
